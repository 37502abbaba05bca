// Package trim cuts a tape down to the records that a failure needs.
//
// Needed is the failing record; what its attribution points at, such as the same
// write before; the model call that asked for it, with the calls whose answers stand
// in that conversation; every record whose result holds a value of the arguments of
// a needed one; the calls that enclose a needed one; and the clock and random reads
// before it, which are answered in their order. What came after the failure is not.
//
//	trim.go      which records are needed, and why
//	flow.go      where values come from
//	subset.go    a tape of some of the records of another
//	minimise.go  fewer still, by trying (delta debugging)
//
// It promises that the records kept are those of the tape, with their positions, that
// a tape which verified before verifies after, and that every record kept or dropped
// is named with the reason. It does not promise that a program which made other calls
// on its way still gets to the failure: that is for [Minimise] to find out.
//
// It costs one pass over all results and one over the arguments of needed records; a
// text that is no whole value of any result is looked for inside them, in at most 64
// MiB of text.
package trim
