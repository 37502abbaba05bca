// Package scrub redacts whole traces and logs: package walk leads it to every
// string, bytes, number and truth value, package redact judges them.
//
// The names of attributes, at any depth, are the context of their values, just
// as the member names of JSON are. Bytes are judged as the text they hold.
// Types stay: what was bytes or a number is bytes or a number afterwards. What
// is nested too deep to be looked at is replaced as a whole.
//
// The paths of what was replaced are noted in the attribute tape.redacted of the
// span, log record, resource or scope they belong to, relative to it:
//
//	attributes.gen_ai.tool.call.arguments.password
//	events[0].attributes.exception.message
//	status.message
//
// sorted, each once, at most 64 and a last entry "…+N" for N more. A path never
// shows a secret: names that hold one appear as they were redacted. Scrubbing
// what is scrubbed changes nothing and counts nothing.
//
// A package that wants to redact string values in its own way, as package once
// does, gives a [Texts]; context, counts and notes stay the business of this one.
//
// Programs write the same names and short values again and again: a Scrubber
// remembers, in 32 KiB of hashes, which values hold nothing, and what the names of
// attributes mean. What is new costs what redaction costs. A call allocates twice
// where there is nothing to redact (go test -bench . ./internal/scrub).
package scrub
