// Package otlpfile reads traces and logs that lie about in files: OTLP JSON
// (one request a line, pretty-printed, several documents one after another, or
// an array of requests), OTLP protobuf (one message), and the sequences of
// size-prefixed messages that the file exporter of the collector writes. Gzip
// and zstd are undone on the way, around the file or around each message.
//
// It also reads what other programs keep traces in: the answers and downloads of
// Jaeger and Tempo, spans of Phoenix and OpenInference, traces and observations
// of Langfuse, and what the console exporters of Python, JavaScript (as Node.js
// prints it, too) and Go write. Formats may follow one another in one input.
//
//	file ──► gunzip, unzstd ──► frames ──► format ──► Document
//	            source.go      jsonframe.go  otlpjson.go, tempo.go, jaeger.go, …
//	                           jsonparts.go  envelope.go around them
//	                           inspect.go
//	                           protoframe.go otlpproto.go
//
// It promises that nothing is read as less than it is. Input that is empty,
// cut, or valid JSON of another kind is an error and never a trace with no
// spans; an error is one line that names the file, the line or the document,
// and the member. Every OTLP document is checked against the OTLP schema before
// pdata decodes it, because pdata skips what it does not know, stops an object
// at an empty member name and recurses as deep as the input does. Ids may be
// hex in either case or base64; members may be spelled in camel or snake case,
// numbers may be strings, enums may be names.
//
// It costs three passes to cut, check and decode, 30 to 40 MB/s of JSON and 110
// to 120 MB/s of protobuf on one core of a small server (go test -bench Read),
// half of that pdata's; and memory for one document at a time: a few times its
// size, bounded by [WithMaxDocument]. A document of OTLP JSON that is larger than
// a few megabytes is given in parts ([Document.Part]), so that one request of any
// length needs no more memory than its largest span and a part. It is not cut
// where a resource or a scope is missing, since that may come behind the spans.
//
// A further JSON format is a file that implements jsonFormat and a line in
// jsonFormats.
package otlpfile
