package api

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/tapedeck/tapedeck/internal/store"
)

// blob answers with the plain bytes of a body. Its media type stands in the
// tape, not here, so it is served as bytes.
func (s *server) blob(w http.ResponseWriter, r *http.Request) error {
	hash := strings.ToLower(r.PathValue("hash"))
	data, err := s.store.Blob(r.Context(), hash)
	if errors.Is(err, store.ErrBadName) {
		return &apiError{http.StatusBadRequest, codeBadHash, "a sha256 is 64 hex digits", nil}
	}
	if errors.Is(err, store.ErrNotFound) {
		return &apiError{http.StatusNotFound, codeNotFound, "no body sha256:" + hash + " is stored here", nil}
	}
	if err != nil {
		return err
	}
	s.audit(r, "read_blob", "sha256", hash, outcomeOK)
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	_, _ = w.Write(data) // an error means that the client has gone
	return nil
}
