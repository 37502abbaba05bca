// Package dialect turns the spans of agent runs into tapes.
//
// [Translate] is a pure function from traces to tapes, one a trace id, used
// alike when a run is decided, stored, read back and imported: a better
// translator improves old tapes too. [KindOf] and [Failed] look at one span
// and serve whoever has to decide before the run is whole. [Runs] adds what a
// summary row needs. [Config] is what a user may say, with defaults and a check.
//
// # How a trace becomes a tape
//
//	collect     group by trace; one span of all deliveries of a span id
//	read        each span by the first dialect that recognises it,
//	            completed from the next if it is written in two
//	mergeTwins  one call of the spans that several instrumentations, or both
//	            sides of a protocol, wrote about it
//	logs        calls that log records alone tell, and what they add to others
//	link        tool calls to the model calls that asked for them and were told
//	            the outcome; calls without a span are made from the messages
//	signals     configured rules over results, HTTP statuses inside a call
//	draws       clock reads and random draws among the span events
//	order       start time, ties by span id; causes before clocks
//	judge       the outcome of the run and the call that made it fail
//	record      arguments, result, key, fidelity, gaps
//
// A dialect is a file with a [Dialect] and an entry in the list of them, the
// most specific first. The passes know no dialect.
//
// # What a record holds
//
// Arguments are what the tool was given: wrappers of the instrumentation are
// removed, JSON and Python literals parsed, and the verbatim text kept in
// args_raw where anything was changed. A result is without its envelope, JSON
// parsed, other text as it is. A placeholder is not a value. A text that was
// cut is graded truncated and never read as a failure.
//
// A model call has the operation as its tool, a request and an answer:
//
//	args    {"system": [message…], "messages": [message…], "tools": [{"name",
//	        "description", "schema"}…], "params": {…}}; "input" in place of
//	        messages for embeddings
//	result  {"message": message, "finish_reason", "model", "usage"}, "messages"
//	        in place of message where there are several, "output" for embeddings
//
// Messages have the neutral form of package message, whoever the provider is.
// Leading system messages are in system. Usage has input_tokens,
// output_tokens, cache_read_tokens, cache_write_tokens and reasoning_tokens.
//
// A call the model asked for and nobody ran is a record without a result,
// named among the gaps, and no failure.
//
// # Promises
//
// The input is neither changed nor kept. Any order, splitting and repetition
// of the same spans gives the same tapes; log records of one span and one instant
// keep the order in which they arrive. No input makes it panic: nesting is
// bounded, parents that form a circle make a root, and text that is no JSON
// stays text.
//
// # Cost
//
// A span that is no call costs about 1.3 µs and no allocation of its own,
// KindOf 0.4 µs and none (go test -bench Plain). What model calls repeat of their
// conversation is compared with what was there before, and neither parsed nor
// written nor hashed again, in any notation: as messages in JSON text, as a whole
// request, spread over attributes, or structured (history.go). A run of 80 model
// calls with 7 MB of text, 180 KB of it said once, takes a lean translation 5 to
// 7 ms of one core (go test -bench History), most of it for what is new.
//
// A tape is as large as what its records say, so that of a run whose model calls
// repeat their conversation is as large as the spans. Options.Lean holds each
// message once instead and writes records one at a time.
//
// [Runs] needs its traces at hand. A [Translation] takes them in parts and holds
// what is in them once: 42 MB of text, of which 440 KB are said once, are held in
// 2 MB, and read in 3 MB.
package dialect
