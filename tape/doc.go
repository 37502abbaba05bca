// Package tape defines the tape: the records of one agent run in order, with a
// manifest, as UTF-8 JSON lines (format version 1).
//
//	{"tape":"1","trace_id":"4bf9…","outcome":"failed",…}
//	{"seq":1,"tool":"fetch","key":"fetch:d3ad8a5ee74b","args":{…},"result":{…},"ms":12.5,"side_effect":false,"clock":null,…}
//	{"seq":2,…}
//
// A line with a member "tape" is the manifest and comes first, if present;
// every other line is one record. A file without a manifest is valid: it is
// what a plain in-process recorder writes. Unknown members are kept, an
// unknown version is refused by name, and nothing in a file is ever executed.
//
// [Reader] and [Writer] stream; [ReadFile] and [WriteFile] hold a whole tape.
// Arguments and results keep the bytes they were written with. [Canonical] and
// [Key] say when two calls are the same call. Reading judges only whether the
// text is a tape; [Verify] judges whether the tape is right.
//
// Reading costs memory in proportion to the longest line really there and runs
// at 700 MB/s on one core of an AMD EPYC; the price of a key stands at [Key].
//
// The package depends on the standard library alone, so that any program can
// read, write and key tapes without linking a collector.
package tape
