package scrub

import (
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/tapedeck/tapedeck/internal/attr"
)

const (
	// maxPaths bounds the paths noted on one node; the entry after them says
	// how many there were more.
	maxPaths = 64
	// maxPath bounds one path in bytes.
	maxPath = 256

	more = "…+"
)

// note adds paths to the attribute that lists what was replaced in a node:
// sorted, each once, bounded.
func note(m pcommon.Map, paths []string) {
	beyond := 0
	if old, ok := m.Get(attr.Redacted); ok && old.Type() == pcommon.ValueTypeSlice {
		for _, e := range old.Slice().All() {
			if n, err := strconv.Atoi(strings.TrimPrefix(e.Str(), more)); err == nil && strings.HasPrefix(e.Str(), more) && n > 0 {
				beyond += n
				continue
			}
			paths = append(paths, e.Str())
		}
	}
	for i, p := range paths {
		paths[i] = short(p)
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	if n := len(paths) - maxPaths; n > 0 {
		beyond += n
		paths = paths[:maxPaths]
	}
	list := m.PutEmptySlice(attr.Redacted)
	list.EnsureCapacity(len(paths) + 1)
	for _, p := range paths {
		list.AppendEmpty().SetStr(p)
	}
	if beyond > 0 {
		list.AppendEmpty().SetStr(more + strconv.Itoa(beyond))
	}
}

// short cuts a path, at the border of a character, to what may be noted.
func short(p string) string {
	if len(p) <= maxPath {
		return p
	}
	cut := maxPath
	for cut > 0 && p[cut]&0xc0 == 0x80 {
		cut--
	}
	return p[:cut] + "…"
}
