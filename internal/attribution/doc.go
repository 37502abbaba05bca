// Package attribution says why a call failed: one of the failure classes of the
// tape format, with its evidence.
//
// It judges by what the tape holds alone: the recorded error, the tool list and
// its JSON schemas, and what the run did before. Rules about texts and codes are
// data (see Rules); what needs the rest of the tape is a function, one a class.
// When several classes fit, the earlier cause wins and the others are listed in
// the evidence. Attributing a tape is linear in its records; schemas are compiled
// once each, and only when a call to their tool failed.
package attribution
