package api

import (
	"net/http"
	"strconv"

	"github.com/tapedeck/tapedeck/internal/store/rebuild"
)

const (
	// completeHeader is false where a strict replay of the answer meets a gap.
	completeHeader = "Tapedeck-Complete"
	// gapsHeader counts what is missing. What and why stands in the manifest, which
	// a bare tape has not.
	gapsHeader = "Tapedeck-Gaps"
	// damagedHeader and missingHeader count, for a trace, the stored parts that
	// cannot be read and the bodies that are no longer there.
	damagedHeader = "Tapedeck-Damaged-Parts"
	missingHeader = "Tapedeck-Missing-Bodies"
)

// tellGaps says in headers how much of a run a tape lacks.
func tellGaps(w http.ResponseWriter, complete bool, gaps int) {
	w.Header().Set(completeHeader, strconv.FormatBool(complete))
	w.Header().Set(gapsHeader, strconv.Itoa(gaps))
}

// tellMissing says in headers how much of a run a trace lacks.
func tellMissing(w http.ResponseWriter, stored *rebuild.Stored) {
	w.Header().Set(damagedHeader, strconv.Itoa(len(stored.Damaged)))
	w.Header().Set(missingHeader, strconv.Itoa(len(stored.Missing)))
}
