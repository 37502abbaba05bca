package offload

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/walk"
)

// Refs lists the bodies that [Restore] will ask for, each once, in the order in
// which td names them. Whoever reads from afar can fetch them together.
func Refs(td ptrace.Traces) []Ref {
	l := lister{seen: map[Ref]bool{}}
	walk.Traces(td, &l)
	return l.refs
}

type lister struct {
	refs []Ref
	seen map[Ref]bool
}

func (*lister) Enter(walk.Node)       {}
func (*lister) Leave(walk.Node)       {}
func (*lister) Renamed(_, _ []string) {}

func (l *lister) Text(_ *walk.Path, s string) string { return l.text(s) }
func (l *lister) Key(_ *walk.Path, s string) string  { return l.text(s) }

func (l *lister) text(s string) string {
	if !strings.HasPrefix(s, prefix) {
		return s
	}
	if ref, ok := ParseRef(s); ok && !l.seen[ref] {
		l.seen[ref] = true
		l.refs = append(l.refs, ref)
	}
	return s
}

func (l *lister) Value(_ *walk.Path, v pcommon.Value) bool {
	switch v.Type() {
	case pcommon.ValueTypeStr:
		l.text(v.Str())
	case pcommon.ValueTypeBytes:
		if b := v.Bytes(); bytesHavePrefix(b) {
			l.text(string(b.AsRaw()))
		}
	}
	return true
}
