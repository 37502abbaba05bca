// Package rowfile is the Parquet format of the index: entries to a file and back.
//
// A file has one row for each entry, in order of decision, and one column for each
// member of [tape.Row] under the member's JSON name. Texts that are not known are
// NULL, times are timestamps in microseconds of UTC, lists are LIST<STRING>. The
// columns of an entry that are no member of a row are fragment, part and deleted.
// Pages are compressed with zstd, the trace id has a bloom filter, so that any
// Parquet reader can query the files as they are.
//
// # What it promises
//
// The same entries give the same bytes. A column that a file lacks reads as the
// zero value and one that is not known is passed over, so that files of earlier and
// later versions read. What is not a file of this format is [ErrFormat], never a
// panic.
//
// # What it costs
//
// [File.Keys] reads five columns, [File.Rows] the pages that hold the rows asked
// for, and [Open] the footer alone.
package rowfile
