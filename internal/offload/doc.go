// Package offload takes large bodies out of a trace, so that messages stay small
// and equal bodies are stored once, and puts them back byte for byte.
//
// Every string and bytes value over a threshold leaves: attributes at any depth
// and their names, span and event names, status messages, trace state, schema
// URLs. In its place stands a reference,
//
//	tape-blob:sha256:<64 hex digits>:<length in bytes>:<media type>
//
// as a string where a string was, as bytes where bytes were. The digest is that
// of the plain bytes as they stood in the trace, so redaction comes first. An
// attribute that is a map or an array of many small parts leaves as one body,
// encoded as an OTLP AnyValue, of media type [MediaValue]; when only single
// leaves of it are large, those leave and the rest stays readable.
//
// A body that cannot be put stays in the trace, and the error says where: what
// is in a trace is never lost on the way out.
//
// # Forged references
//
// Digests are no secrets, so anybody may send a value that looks like a
// reference to another's body. What begins with "tape-blob:" when it comes in is
// therefore escaped, by "tape-blob:escaped:" in front of it, and unescaped by
// [Restore]. This holds only if each trace goes through [Traces] once, and only
// such traces are restored. With a threshold of 0 nothing leaves and forgeries
// are escaped all the same.
//
// # Cost
//
// A trace with nothing over the threshold costs the walk over it. Of what
// leaves, one core hashes, sniffs and copies 280 to 760 MB/s (go test -bench .
// ./internal/offload, on a shared virtual machine). [Restore] holds each body
// once, however often it is referred to.
package offload
