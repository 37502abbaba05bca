package api

import (
	"bytes"
	"net/http"
	"strconv"

	"github.com/tapedeck/tapedeck/internal/bundle"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/rebuild"
)

// bundle answers with the tape of a run, its bodies inside, and what it takes to run
// it. It is made whole before it goes out, so that an error still has a status.
func (s *server) bundle(w http.ResponseWriter, r *http.Request) error {
	id, err := store.ParseTraceID(r.PathValue("id"))
	if err != nil {
		return err
	}
	if err := noMembers(r.URL.RawQuery); err != nil {
		return err
	}
	manifest, records, err := rebuild.Records(r.Context(), s.store, id, rebuild.Options{Translation: s.opts.Translation})
	if err != nil {
		return s.absent(r, id, err)
	}
	made, err := bundle.New(bundle.Content{Manifest: manifest, Records: records})
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	if err := made.WriteTar(&packed); err != nil {
		return err
	}
	s.audit(r, "read_bundle", "trace_id", id, outcomeOK)
	tellGaps(w, manifest.Complete, len(manifest.Gaps))
	w.Header().Set("Content-Type", bundle.MediaType)
	w.Header().Set("Content-Disposition", `attachment; filename="`+made.Name+`.tar.gz"`)
	w.Header().Set("Content-Length", strconv.Itoa(packed.Len()))
	_, _ = packed.WriteTo(w) // an error means that the client has gone
	return nil
}

// noMembers refuses a query but for the tenant, which is read already.
func noMembers(raw string) error {
	values, err := parseMembers(raw)
	if err != nil {
		return err
	}
	for _, name := range sortedNames(values) {
		if name != tenantMember {
			return badQuery(name, "is not known")
		}
	}
	return nil
}
