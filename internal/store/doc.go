// Package store keeps decided runs: their redacted traces, the bodies taken
// out of them, and one index row for each run, kept or not.
//
//	tapes/<class>/<trace_id>/<fragment>.otlp.zst   one or more fragments of a kept run
//	blobs/<class>/<year>-W<week>/<sha256>.zst      bodies held by reference
//	index/date=YYYY-MM-DD/hour=HH/<writer>-<n>.jsonl
//	policies/<id>.json.zst                         rules that spans were redacted with
//
// A fragment is OTLP protobuf, a blob is plain bytes, both in one zstd frame
// that "zstd -d" opens. An index file has one JSON object a line.
//
// # What it promises
//
// The name of a fragment and of a blob comes from its content, so writing the
// same thing twice is harmless, and two collectors that each hold a part of a
// run are merged when it is read. A reader sees a whole object or none. Whoever
// writes a run writes its blobs first, then its fragments, then its row: a
// crash in between leaves nothing that refers to something missing.
//
// The hash in a blob's name is checked when the blob is read. A damaged
// fragment or index line costs itself alone, and is reported to
// [Options.OnDamaged].
//
// # What it costs
//
// Writing a fragment is one Put of the backend; encoding one of 42 KiB takes
// 0.28 ms and 57 KB on one core of an AMD EPYC. In a directory most of the time
// goes to the disk: three syncs for the first fragment of a run, two for another.
// Reading a run is one listing for each class and one Get for each fragment: 3 to
// 4 ms for a run of 1 MiB, beside 10,000 others or alone. A list reads the hours
// it shows, newest first, and holds one or two hours of rows in memory. Looking
// up the row of an id that has none reads the whole index, 25 ms for 100,000
// rows. The figures are from go test -bench . ./internal/store.
package store
