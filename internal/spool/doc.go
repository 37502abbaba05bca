// Package spool keeps the records of undecided runs in append-only segment
// files, or in memory when it has no directory.
//
// It knows nothing of spans: a [Record] is a payload of bytes under a trace id,
// with a few counts and a small piece of metadata that is given back at a
// restart without loading the payload. The caller holds the index, a [Position]
// of four bytes for each record, and says when records are no longer needed.
//
// # What it promises
//
// When Append returns, the records survive a kill of the process: they were
// written to the file. They survive a loss of power once the next sync is over
// (Config.SyncInterval). The same holds for Free, Mark and Unmark. After a kill
// whoever sees what a later call has done also sees what the earlier ones did.
// So after a kill at any point no accepted record is lost and no freed record
// comes back. A caller who hands a run on and is killed before it calls Mark or
// Free finds the run undecided again: that repeated decision is the price of
// not losing it.
//
// Damage costs what it touches. A flipped or missing byte of a segment loses the
// one record it lies in, one of the marks file loses a mark or brings back what
// was freed; it is counted in [Stats] and stops nobody, as reading goes on at the
// next intact header. What is gone without a trace (the end of a segment, a segment,
// a record without its header) is counted too, span by span: see Numbers below. Only
// a marks file that was cut between two entries behind entry 4 cannot be told from a
// whole one. A file of an unknown version is refused by name and never touched. A file
// without an intact header of its own is set aside as <name>.damaged and no longer
// counts.
//
// The bytes on disk never exceed Config.MaxBytes. A segment goes when its last
// record is freed. A long-lived run pins no old segments: once more than
// Config.CompactBytes are held, the live records of segments that are at least
// half dead are copied to new ones, and Config.OnMove tells where they went.
//
// # What it costs
//
// One write call for each Append, Free, Mark or Unmark. In memory: two bits for
// each 64 bytes of a segment (0.4 %), about 50 bytes for each mark, one open
// file for each segment, and a few buffers of at most a megabyte. Nothing is
// mapped into memory.
//
// # Segment files
//
// A directory holds <number>.segment, <number>.marks and the file lock. All
// integers are little endian, all checksums CRC-32C. Numbers are never used
// again. A segment begins with its header, twice, so that damage to one copy
// costs nothing. The first 64 bytes of a segment or of a marks file mean the
// same in every version:
//
//	 0  magic "tapedeck"
//	 8  version uint32 = 1
//	12  kind uint32: 0 records, 1 copies (made by compaction), 2 marks
//	16  number uint64
//	24  created int64, Unix nanoseconds
//	32  salt uint32, random
//	36  zero
//	60  checksum of the 60 bytes before
//
// Records follow, each on a border of 16 bytes, the gap filled with zeros:
//
//	 0  magic "tRec", written over with "tVoi" or "tDed", see below
//	 4  checksum of bytes 8 to 64, begun with the salt
//	 8  body length uint32: extra and payload
//	12  checksum of the body
//	16  LSN uint64: the number of its last span or log record, ascending, never
//	    used again; see Numbers
//	24  id, 16 bytes
//	40  arrived int64, Unix nanoseconds
//	48  spans uint32
//	52  logs uint32
//	56  extra length uint32
//	60  flags uint16
//	62  kind uint8
//	63  zero
//	64  extra, then payload
//
// The salt keeps a payload that looks like records, or a disk block left by an
// older file, from being taken for one when damage forces a search. A batch
// larger than a segment gets a segment of its own size.
//
// A copy has the LSN of its original; where both are found they are one record,
// which is gone if one of the two was freed. As soon as one of them holds, the
// other is removed with its file or becomes void: "tVoi". "tDed" says that a
// record was freed when the marks file could not take note of it; writing over
// needs no room, so that a full disk keeps no promise from being held.
//
// # Marks files
//
// One marks file holds: the latest that is complete. Another is left only by a
// kill between writing the new one and removing the old. After a header like
// that of a segment come entries on borders of 8 bytes:
//
//	 0  magic "tMrk", or of a mark "tUnm", see below
//	 4  checksum of bytes 8 to the end of the body, begun with the salt
//	 8  body length uint32
//	12  kind uint32
//	16  LSN uint64: the last one given out at that time
//	24  body
//
// By kind the body is, after that:
//
//	1 mark      id, then the caller's bytes; the latest for an id holds
//	2 unmark    ids
//	3 freed     segment number uint64, then cells
//	4 segments  next number uint64, then the number of each that is held, or
//	            zero if they are more than 8192
//	5 held      spans and log records uint64 in all records that are not freed
//	            and not above the LSN of the entry; all ones if nobody knows
//	6 released  spans and log records uint64 in the records that entries 3
//	            behind it free; zero at an orderly end, to tell the last LSN
//
// An unmark may stand in place of a mark: where there is no room for another entry,
// the magic of the mark that holds is written over with "tUnm", which makes it an
// unmark of its id. What it had replaced stands before it and does not hold again.
//
// A cell is 64 bytes of a segment. A record is named by the cell in which it
// begins, as no two begin in one. Cells ascend and are written as the unsigned
// varint distance to the one before. A marks file that has doubled is replaced
// by a new one: the marks that hold, entry 3 for all segments, entry 5, and then
// entry 4, without which a file is not complete. A segment with a number below
// its next number that it does not name was deleted.
//
// # Numbers
//
// The LSN ascends from one record to the next by the spans and log records in it, a
// record of none counting as one. So a marks file and the highest LSN that is found
// anywhere tell how many must be there:
//
//	held + (highest LSN - LSN of entry 5) - released since
//
// of which those that are found are taken off, and those whose header is; the rest
// is [Damage].Missing. It is exact after damage to segments, whichever, and after a
// kill nothing is missing. It cannot be known, and nothing is counted, where the marks
// file itself is damaged, or when an entry 6 could not be written, as on a full disk:
// then entry 5 is written over with all ones. Of what was appended last, with no mark
// and no orderly end after it, the loss is not seen. After a loss of power, records
// that were freed since the last sync may be counted as missing.
package spool
