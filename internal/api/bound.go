package api

import (
	"net/http"
	"time"
)

// patience is how long a request waits for its turn.
const patience = 2 * time.Second

// bounded answers as many requests at a time as the options allow.
func (s *server) bounded(next http.Handler) http.Handler {
	if s.opts.MaxRequests <= 0 {
		return next
	}
	turns := make(chan struct{}, s.opts.MaxRequests)
	busy := s.serve(endpoint{"other", "", func(_ *server, w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("Retry-After", "1")
		return &apiError{http.StatusServiceUnavailable, codeBusy, "too many requests are being answered: try again in a moment", nil}
	}})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case turns <- struct{}{}:
		default:
			timer := time.NewTimer(patience)
			defer timer.Stop()
			select {
			case turns <- struct{}{}:
			case <-timer.C:
				busy.ServeHTTP(w, r)
				return
			case <-r.Context().Done():
				return
			}
		}
		// Also when an answer is aborted by a panic.
		defer func() { <-turns }()
		next.ServeHTTP(w, r)
	})
}
