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
	// intact and their body was not. What lay in a region without an intact
	// header is unknown and not in here.
	Records, Spans, Logs int64
}
