package spool

// Stats tells what a spool holds and what has happened to it since Open.
type Stats struct {
	// Bytes is the size of all files, Limit what Append may let it grow to.
	Bytes, Limit int64
	// LiveBytes is the part of Bytes in records that are not freed, to within 64
	// bytes a record.
	LiveBytes int64
	// Records and Marks are those not freed and not unmarked.
	Records, Marks int64
	Segments       int

	// Damage counts what was found unreadable, by Open and Read.
	Damage Damage
	// Moved counts records copied by compaction.
	Moved int64
	// SyncErrors counts syncs that failed, MarkErrors writes of a marks file
	// that failed. Nothing that a call promised is lost by either.
	SyncErrors, MarkErrors int64
}

// Damage counts what could not be read.
type Damage struct {
	// Regions and Bytes are the damaged stretches of files.
	Regions, Bytes int64
	// Records, Spans and Logs are those known to be lost: their header was
	// intact and their body was not.
	Records, Spans, Logs int64
	// Missing are spans and log records that must be there, by their numbers, and of
	// which nothing was found by Open: the end of a file that was cut off, a file
	// that is gone, a record without its header. Nothing is counted where the marks
	// file itself is damaged.
	Missing int64
}

// Lost is how many spans and log records damage is known to have cost.
func (d Damage) Lost() int64 { return d.Spans + d.Logs + d.Missing }
