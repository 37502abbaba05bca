// Package diff says where two runs part: two tapes, or a tape and the report of a
// replay of it.
//
// Steps are aligned, not counted: first by key, in order, so that an added call
// shifts nothing; then what is left over under the same key counts as moved; what
// is left between two aligned steps is paired by kind and tool, the most similar
// first, and counts as changed. What finds no partner is missing (on the first side
// only) or added (on the second only). Of each pair the paths that differ are listed,
// in arguments, result, error, model, prompt and schema version, and, where a
// threshold is given, in time.
//
//	report.go   what a comparison says
//	align.go    longest common subsequences, bounded
//	pair.go     which step goes with which
//	compare.go  the paths in which a pair differs
//	facts.go    what the manifests say
//	replayed.go a tape beside the report of its replay
//	html.go     a page that needs nothing else
//
// It promises that two equal tapes have no difference, that one changed leaf is
// exactly that path, that one call removed, added or swapped is exactly that, and
// that the same input gives the same report.
//
// It costs time of order n log n in the number of steps, with windows of up to a
// million cells compared exactly, and memory of some 100 bytes a step beside the
// tapes. Values are cut at 4 KiB each and 32 MiB together: beyond that, paths stand
// without values.
package diff
