package store

import (
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

const (
	tapesFolder = "tapes/"
	blobsFolder = "blobs/"
	indexFolder = "index/"

	fragmentSuffix = ".otlp.zst"
	blobSuffix     = ".zst"
	parquetSuffix  = ".parquet"
	journalSuffix  = ".jsonl"

	maxSegment = 128
	maxName    = 512
)

// ParseTraceID lowers and checks a trace id. The error is ErrBadTraceID.
func ParseTraceID(s string) (string, error) {
	if len(s) != 32 {
		return "", fmt.Errorf("%w: %d characters where 32 hex digits are wanted", ErrBadTraceID, len(s))
	}
	id := strings.ToLower(s)
	if _, err := hex.DecodeString(id); err != nil {
		return "", fmt.Errorf("%w: not hex digits", ErrBadTraceID)
	}
	if strings.Trim(id, "0") == "" {
		return "", fmt.Errorf("%w: all zero", ErrBadTraceID)
	}
	return id, nil
}

// CheckClass says whether a class can be a folder of the store: letters,
// digits, '_', '-' and '.', not starting with '.', at most 128 bytes.
func CheckClass(class string) error {
	if err := checkSegment(class); err != nil {
		return fmt.Errorf("class %q: %w", class, err)
	}
	return nil
}

// CheckName says whether a name is one that a store could have made: segments
// of letters, digits and "._=-" that do not start with '.', joined by slashes.
// It keeps a backend from ever leaving its folder. The whole has at most 512
// bytes.
func CheckName(name string) error {
	if len(name) > maxName {
		return fmt.Errorf("object name of %d bytes: %w", len(name), ErrBadName)
	}
	for segment := range strings.SplitSeq(name, "/") {
		if err := checkSegment(segment); err != nil {
			return fmt.Errorf("object %q: %w", name, err)
		}
	}
	return nil
}

func checkSegment(s string) error {
	if s == "" || len(s) > maxSegment || s[0] == '.' {
		return ErrBadName
	}
	for i := range len(s) {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '_', c == '-', c == '.', c == '=':
		default:
			return ErrBadName
		}
	}
	return nil
}

// checkHash accepts the hex digest of a sha256 in lower case.
func checkHash(sha string) error {
	raw, err := hex.DecodeString(sha)
	if err != nil || len(raw) != 32 || sha != strings.ToLower(sha) {
		return fmt.Errorf("hash %q: %w", sha, ErrBadName)
	}
	return nil
}

func runFolder(class, traceID string) string {
	return tapesFolder + class + "/" + traceID + "/"
}

func fragmentName(class, traceID, fragment string) string {
	return runFolder(class, traceID) + fragment + fragmentSuffix
}

// blobWeek is the ISO week, which does not split the days around New Year.
func blobWeek(t time.Time) string {
	year, week := t.UTC().ISOWeek()
	return fmt.Sprintf("%04d-W%02d", year, week)
}

func blobName(class, week, sha string) string {
	return blobsFolder + class + "/" + week + "/" + sha + blobSuffix
}

const (
	mergedPrefix = "zz-"

	dateFolder = "date="
	hourFolder = "hour="
)

// hourOf is the partition a row decided at t belongs to.
func hourOf(t time.Time) time.Time { return t.UTC().Truncate(time.Hour) }

func partitionFolder(hour time.Time) string {
	return indexFolder + dateFolder + hour.Format(time.DateOnly) + "/" + hourFolder + hour.Format("15") + "/"
}

func parsePartition(date, hour string) (time.Time, bool) {
	d, ok := strings.CutPrefix(date, dateFolder)
	if !ok {
		return time.Time{}, false
	}
	h, ok := strings.CutPrefix(hour, hourFolder)
	if !ok {
		return time.Time{}, false
	}
	t, err := time.Parse(time.DateOnly+" 15", d+" "+h)
	return t, err == nil
}

// journalName is that of the journal of an hour, and with another suffix that of
// what is made of it.
func journalName(hour time.Time, writer string, n int64) string {
	return fmt.Sprintf("%s%s-%d%s", partitionFolder(hour), writer, n, journalSuffix)
}

// snapshotName is that of a Parquet file with the first rows of a journal: the same
// name stands for the same rows.
func snapshotName(hour time.Time, stem string, rows int) string {
	return fmt.Sprintf("%s%s-%08d%s", partitionFolder(hour), stem, rows, parquetSuffix)
}

// mergedName is that of a file made of all others of its hour. It sorts behind
// them, so that a listing that no longer has those has this one.
func mergedName(hour time.Time, sum string) string {
	return partitionFolder(hour) + mergedPrefix + sum + parquetSuffix
}

func parquetName(name string) bool { return strings.HasSuffix(name, parquetSuffix) }
