// Package regress is a regression set: tapes with expectations beside them, run
// against the code of now.
//
// A case is a tape NAME.jsonl and, where there is one, NAME.expect.yaml. Without
// expectations the command is to end with exit code 0 and the replay to be clean.
//
//	expect.go   expectations: reading them, judging an outcome by them
//	find.go     which tapes belong to a set
//	run.go      many cases side by side
//	report.go   what a run of a set says
//	update.go   expectations made of what happened, on request only
//	junit.go, sarif.go, github.go   the report for other programs
//
// The package starts no process: it is given a [Runner] that does. It promises that
// the report lists cases in the order in which they were found, whatever order they
// ended in; that an unknown member of an expectation is an error that names its
// line; and that an update changes nothing but the answer and the exit code, and
// those only where the replay went as expected, so that no drift is ever approved.
//
// It holds one outcome a case, the texts of which are cut by who makes them.
package regress
