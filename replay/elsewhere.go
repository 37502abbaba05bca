package replay

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// maxPathShown bounds the path of a request in a report, in bytes.
const maxPathShown = 200

// Elsewhere is a request to a place that the tape knows nothing of, such as a library
// that reports home. It was refused, and was no call of the session.
type Elsewhere struct {
	Method string `json:"method"`
	// Host has a port where it is not that of the scheme.
	Host string `json:"host"`
	// Path is redacted, has no query, and may be cut.
	Path string `json:"path,omitempty"`
	// Why says what else was wrong with it, "" for nothing.
	Why   string `json:"why,omitempty"`
	Count int    `json:"count"`
}

// String is the request on one line.
func (e Elsewhere) String() string {
	text := fmt.Sprintf("%s %s%s", e.Method, e.Host, e.Path)
	if e.Why != "" {
		text += ": " + e.Why
	}
	return fmt.Sprintf("%s (%d)", text, e.Count)
}

// elsewhere lists refused requests, the first places, and counts all.
type elsewhere struct {
	list  []Elsewhere
	count int
}

// WithElsewhereUnclean makes a replay unclean in which the program asked elsewhere;
// see [Session.RefusedElsewhere].
func WithElsewhereUnclean() Option {
	return func(c *config) error {
		c.failElsewhere = true
		return nil
	}
}

// RefusedElsewhere notes a request of the program that was refused, because the
// tape knows nothing of its host. Such requests are in the report, and do not make
// the replay unclean unless [WithElsewhereUnclean] says so. Count is not read.
func (s *Session) RefusedElsewhere(e Elsewhere) {
	e.Path, _ = s.policy.Text(e.Path)
	if len(e.Path) > maxPathShown {
		e.Path = strings.ToValidUTF8(e.Path[:maxPathShown], "") + "…"
	}
	e.Count = 1
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	l := &s.elsewhere
	l.count++
	i := slices.IndexFunc(l.list, func(o Elsewhere) bool {
		o.Count = e.Count
		return o == e
	})
	switch {
	case i >= 0:
		l.list[i].Count++
	case len(l.list) < maxListed:
		l.list = append(l.list, e)
	}
}

// badElsewhere counts the requests that make the replay unclean. s.mu is held.
func (s *Session) badElsewhere() int {
	if !s.cfg.failElsewhere {
		return 0
	}
	return s.elsewhere.count
}

// elsewhereLocked lists the requests, by place. s.mu is held.
func (s *Session) elsewhereLocked() []Elsewhere {
	list := slices.Clone(s.elsewhere.list)
	slices.SortFunc(list, func(a, b Elsewhere) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Method, b.Method), cmp.Compare(a.Why, b.Why))
	})
	return list
}
