// Package store keeps decided runs: their redacted traces, the bodies taken
// out of them, and one index row for each run, kept or not.
//
//	tapes/<class>/<trace_id>/<fragment>.otlp.zst   one or more fragments of a kept run
//	blobs/<class>/<year>-W<week>/<sha256>.zst      bodies held by reference
//	index/date=YYYY-MM-DD/hour=HH/<writer>-<n>.parquet
//	index/date=YYYY-MM-DD/hour=HH/<writer>-<n>.jsonl   rows that are in no Parquet file yet
//	retention/                                     notes of retention
//	policies/<id>.json.zst                         rules that spans were redacted with
//	tenants/<tenant>/...                           all of this but policies, for one tenant
//
// A fragment is OTLP protobuf, a blob is plain bytes, both in one zstd frame
// that "zstd -d" opens. Any Parquet reader opens the index; package rowfile is its
// format. A row waits in a journal, which is a file of JSON lines in the store
// itself where that can append, and else on a local disk, until [Store.Flush] or
// [Store.Maintain] writes it to a Parquet file together with others.
//
// # What it promises
//
// The name of a fragment and of a blob comes from its content, so writing the
// same thing twice is harmless, and two collectors that each hold a part of a
// run are merged when it is read. A reader sees a whole object or none. Whoever
// writes a run writes its blobs first, then its fragments, then its row: a
// crash in between leaves nothing that refers to something missing. A row is on
// disk when AppendRows returns, and seen at once by whoever reads the journal.
// Index files are replaced by ones that hold the same rows, which a reader takes
// for one where it sees both.
//
// The hash in a blob's name is checked when the blob is read. A damaged
// fragment, index file or line of a journal costs itself alone, and is reported to
// [Options.OnDamaged].
//
// # What it costs
//
// Writing a fragment is one Put of the backend; encoding one of 42 KiB takes
// 0.28 ms and 57 KB on one core of an AMD EPYC. In a directory most of the time
// goes to the disk: three syncs for the first fragment of a run, two for another.
// Reading a run is one listing for each class and one Get for each fragment: 3 to
// 4 ms for a run of 1 MiB, beside 10,000 others or alone. A list reads the keys of
// the hours it shows and of one older hour, newest first, and the rows it shows;
// what it holds in memory is the keys of two hours. Looking up an id reads the end
// of each index file once, and then nothing of those that do not have it.
// The figures are from go test -bench . ./internal/store.
package store
