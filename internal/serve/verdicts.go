package serve

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// What bounds the verdicts that are kept to be read again; the oldest go first.
const (
	maxVerdicts     = 1000
	maxVerdictBytes = 16 << 20
)

// verdicts holds the calls that were no hits, whole: reports cut what is long.
type verdicts struct {
	mu     sync.Mutex
	byCall map[int]told
	order  []int
	bytes  int
}

// told is a verdict as JSON and in words.
type told struct {
	body []byte
	text string
}

func newVerdicts() *verdicts { return &verdicts{byCall: map[int]told{}} }

func (v *verdicts) keep(call int, body []byte, text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.byCall[call] = told{body, text}
	v.order, v.bytes = append(v.order, call), v.bytes+len(body)+len(text)
	for len(v.order) > maxVerdicts || v.bytes > maxVerdictBytes && len(v.order) > 1 {
		oldest := v.byCall[v.order[0]]
		delete(v.byCall, v.order[0])
		v.order, v.bytes = v.order[1:], v.bytes-len(oldest.body)-len(oldest.text)
	}
}

// oneCall shows the verdict on a call, for GET /v1/calls/N.
func (s *Server) oneCall(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, callsPath))
	s.verdicts.mu.Lock()
	found, ok := s.verdicts.byCall[n]
	s.verdicts.mu.Unlock()
	switch {
	case err != nil || !ok:
		failure(http.StatusNotFound, "not_found", fmt.Sprintf("there is no verdict on a call %q: it was a hit, was not made, or is too long ago", strings.TrimPrefix(r.URL.Path, callsPath))).write(w)
	case strings.HasPrefix(r.Header.Get("Accept"), "text/plain"):
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, found.text+"\n")
	default:
		(&response{status: http.StatusOK, parts: [][]byte{found.body, []byte("\n")}}).write(w)
	}
}
