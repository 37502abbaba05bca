// Package once turns the spans and log records of a run into payloads for the
// spool, redacted, and with each long text of the run in them only once; and
// payloads back into spans and log records.
//
// Agents repeat themselves: every model span carries the whole conversation
// before it. An [Encoder] redacts what arrives, cuts message arrays into their
// messages, and writes a text that the run had before as a reference of a byte
// or two. What a [Decoder] gives back is, byte for byte, what [scrub.Scrubber]
// alone would have made of the same input: values, notes of what was replaced,
// and counts.
//
// # Who does what
//
// The caller keeps one [Table] for each open run, nothing but a pointer while
// the run has no long text, and for each part of a request that belongs to one
// run
//
//  1. reads what it needs from the pdata before it is encoded: afterwards long
//     values are references, and the pdata is good for nothing,
//  2. calls [Encoder.Traces] or [Encoder.Logs] with the table of that run, one
//     call at a time for a run,
//  3. writes the payload where it stays. If that fails, it calls [Table.Forget]:
//     later payloads must not refer to texts that nobody has.
//
// A table is a cache. It may be forgotten whenever memory is short, and is gone
// after a restart; that costs one more copy of the texts that come again. Texts
// of a table before are never mistaken for those of the next.
//
// To read a run, one [Decoder] is given its payloads in the order in which they
// were encoded.
//
// Nothing unredacted is in a payload. Payloads do not say by which policy they
// were redacted: after a change of the policy, scrub what was decoded once more.
//
// # Damage
//
// A reference to a text that is not there, because the payload that held it was
// lost, becomes [Hole], and what stood behind it in the value is left out: so
// what is left is no valid JSON and ends in a mark of truncation, which the
// dialects read as cut content. [Decoder.Holes] counts such values. Bytes that
// are no payload are refused with [ErrPayload]. Nothing panics.
//
// # Payload
//
//	head    1 byte    bits 0-1  what follows: 1 spans, 2 log records
//	                  bit 2     texts come before it
//	                  bits 4-7  version, 1
//	 ┌ table   8 bytes   random number of the table, little endian
//	 │ first   uvarint   number of the first text
//	 │ size    uvarint   of all texts below, in bytes
//	 └ texts   each      uvarint length, redacted bytes; numbered on from first
//	OTLP    the rest  TracesData or LogsData, protobuf
//
// Only with bit 2 set, string values in attributes and bodies that begin with
// the byte 0xff, which no UTF-8 text does, stand for others:
//
//	ff 't' uvarint    the text of that number
//	ff 'c' ops        pieces and texts, one after the other
//	ff 'e' value      the value, which itself begins with ff
//
//	op: uvarint 2n    n bytes follow, as they are
//	    uvarint 2n+1  n texts: uvarint length and bytes of what stands between
//	                  them; then n numbers, each as its difference to the one
//	                  before (signed varint; the first to 0)
//
// # How texts are found
//
// A value that is not JSON, or has no parts worth it, is one text, known by a
// keyed 64-bit hash. Of a JSON value the objects in arrays, the long strings in
// arrays and objects become texts, as long as nothing around them can change
// how they are redacted: below a secret name, behind a flag such as "--token",
// in the value of a name and value pair nothing is cut. Every text knows which
// followed it last, so that a repeated array is recognised by hashing alone;
// only what is new is parsed and redacted.
//
// # Cost
//
// A table holds about 45 bytes for each text of its run, and starts over when it
// passes its limit. On one core of a shared virtual machine (AMD EPYC), the best
// of several runs of go test -bench . ./internal/once:
//
//	a model span whose 160 messages are all known   5.8 GB/s, 10 allocations
//	all spans of a run of 80 turns, 6.3 MB          3.0 GB/s, to 1/34 of the size
//	light spans of 500 B, 64 in a request           2.1 µs each, 3 allocations a request
//	decoding that run                               0.7 GB/s
//
// Known texts cost the hash over them, new ones their redaction; decoding, the
// copy. What a caller can save is the buffer: payloads are appended to one.
package once
