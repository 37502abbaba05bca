// Package attribution says why a call failed: one of the failure classes of the
// tape format, with its evidence.
//
// It judges by what tapes hold alone: the recorded error, the tool list and its
// JSON schemas, what the run did before, and, where there is one, the last good run
// to compare the schemas with. Rules about texts and codes are data: the built-in
// table ([Rules]), extended by a [Config]. What needs the rest of the tape is a
// function, one a class.
//
//	attribution.go  reports, and classes written into a tape
//	match.go        rules against an error
//	examine.go      what the rest of the run shows
//	good.go         what is kept of a run that went well, to compare with
//	schemadiff.go   schemas, of the time and of the good run
//
// When several classes fit, the earlier cause wins and the others are listed: a
// wrong choice of tool, wrong arguments, a schema that is not the caller's, a
// missing approval, a missing permission, a policy, a timeout, a conflict, an answer
// that could not be read. A schema that changed since the good run comes before the
// arguments.
//
// Attributing a tape is linear in its records, and an error costs one pass over its
// message for each phrase of the table. Schemas are compiled once each, and only
// when a call to their tool failed; they reach for no file and no server.
package attribution
