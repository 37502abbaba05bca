package api

import (
	"net/http"
	"strings"

	"github.com/tapedeck/tapedeck/internal/store"
	"go.uber.org/zap"
)

// outcomeOK is the outcome of what was done; any other is the code of the error.
const outcomeOK = "ok"

// outcomeCut says that a part of an answer went out, and then no more.
const outcomeCut = "cut_short"

// audit logs that content was read, kept or deleted, by whom, and never what. Of a
// read the line comes before the content does, so that none goes out unseen.
func (s *server) audit(r *http.Request, action, field, id, outcome string) {
	s.opts.Logger.Info("Audit",
		zap.String("action", action),
		zap.String(field, id),
		zap.String("outcome", outcome),
		zap.String("tenant", s.tenant),
		zap.String("subject", s.opts.Subject(r)),
		zap.String("remote", r.RemoteAddr))
}

// auditFailure logs what was asked for and not done. What is no id is not repeated:
// it can be any text.
func (s *server) auditFailure(r *http.Request, action, code string) {
	if hash := strings.ToLower(r.PathValue("hash")); hash != "" {
		if code != codeBadHash {
			s.audit(r, action, "sha256", hash, code)
		}
		return
	}
	if id, err := store.ParseTraceID(r.PathValue("id")); err == nil {
		s.audit(r, action, "trace_id", id, code)
	}
}
