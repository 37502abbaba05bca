package api

import (
	"errors"
	"net/http"

	"github.com/tapedeck/tapedeck/internal/retention"
	"github.com/tapedeck/tapedeck/internal/store"
)

// Kept is what became of a wish to keep a run, as the answer has it.
type Kept string

const (
	// KeptNow says that the run came from the spool and is on its way to the store.
	KeptNow Kept = "now"
	// KeptOnceDecided says that the run is open and will be kept whatever its outcome.
	KeptOnceDecided Kept = "once_decided"
	// KeptBefore says that the run is in the store, and pinned.
	KeptBefore Kept = "stored"
)

// keep keeps a run: what is in the spool goes to the store once it is decided, and
// what is stored of it, by whatever rule, is pinned.
func (s *server) keep(w http.ResponseWriter, r *http.Request) error {
	id, err := store.ParseTraceID(r.PathValue("id"))
	if err != nil {
		return err
	}
	kept, err := s.opts.Keep(r.Context(), s.tenant, id)
	if err != nil {
		return err
	}
	pinned, err := s.store.Pin(r.Context(), id, retention.Bodies)
	switch {
	case err == nil && kept == "":
		kept = KeptBefore
	case err != nil && (kept == "" || !errors.Is(err, store.ErrNotFound)):
		return s.absent(r, id, err)
	}
	s.audit(r, "keep", "trace_id", id, outcomeOK)
	status := http.StatusOK
	if kept == KeptOnceDecided {
		status = http.StatusAccepted
	}
	writeJSON(w, status, struct {
		TraceID string `json:"trace_id"`
		Kept    Kept   `json:"kept"`
		// MissingBodies were gone before the run was pinned.
		MissingBodies []string `json:"missing_bodies,omitempty"`
	}{id, kept, pinned.Missing})
	return nil
}
