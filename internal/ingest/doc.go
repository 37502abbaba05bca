// Package ingest makes traces of tapes that plain recorders wrote, so that an
// agent without OpenTelemetry joins the same line as any other: what is made of
// its records is redacted, decided, stored and pulled as spans are.
//
//	record            span, in the OpenTelemetry GenAI conventions
//	tool              execute_tool TOOL, arguments and result as JSON text
//	model             chat MODEL, the request and the answer as messages
//	clock, random     an event tape.clock or tape.random on the span around it
//	run               invoke_agent AGENT, the root of the others
//	unseen parent     a span without content, so that the tree is whole
//
// Reading the trace with package dialect gives the records again: order, tool,
// key, arguments, result, duration, side effect and clock of every tool call,
// and of a model call as far as its request and answer have the neutral form of
// a tape. A request or an answer in a provider's own form comes back in the
// neutral form, with the key of that.
//
// # Ids and times
//
// Ids are the recorded ones where they are ids of OpenTelemetry, and are made
// from the content otherwise: the same tape gives the same ids, however often it
// is taken in. A run that is to be told apart from an equal one needs a run_id;
// any text is one. Records of several run ids in one file are several traces.
//
// Times are the recorded ones. Without them the calls follow one another without
// a pause, and the last ends at the time that the caller gives: the same one for
// the same tape, or its spans differ.
//
// # What does not come back
//
// Contents that the tape holds by reference are gaps. Members that the line finds
// out by itself (done, fidelity, redacted, failure_class, args_hash) are found out
// again, and members of no known name become attributes tape.member.NAME of the
// span.
//
// # Cost
//
// One pass over the records and one copy of their texts. Nothing panics on any
// tape, and what it makes is at most a small multiple of the tape.
package ingest
