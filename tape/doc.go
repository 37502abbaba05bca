// Package tape defines the tape: the records of one agent run in order, with a
// manifest, as UTF-8 JSON lines (format version 1).
//
// A line with a member "tape" is the manifest and comes first, if present;
// every other line is one record. A file without a manifest is valid: it is
// what a plain in-process recorder writes. Unknown members are kept, an
// unknown version is refused by name, and nothing in a file is ever executed.
//
// The package depends on the standard library alone, so that any program can
// read, write and key tapes without linking a collector.
package tape
