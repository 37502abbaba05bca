// Package suggest proposes rules for a replay policy from drifts that occur again
// and again in reports.
//
// It proposes only what people then read and adopt: a rule takes two values for
// the same, and whether that is right nobody can learn from reports. So it
// proposes the narrowest rule that explains every drift seen at a place, never to
// ignore a place, and says of the others what was seen there.
//
// Cost: one pass over the reports, and for each place a few rules tried on each
// pair of values.
package suggest

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"

	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/replay/rules"
	"github.com/tapedeck/tapedeck/tape"
)

// Source is a report and where it came from.
type Source struct {
	Name   string
	Report *replay.Report
}

// Place is where calls of a tool drifted.
type Place struct {
	Kind tape.Kind `json:"kind"`
	Tool string    `json:"tool"`
	// Path has [*] for elements of arrays.
	Path string `json:"path"`
	// Drifts and Reports count where it was seen.
	Drifts  int `json:"drifts"`
	Reports int `json:"reports"`
	// Recorded and Live are the first pair of values, nil where there was none.
	Recorded json.RawMessage `json:"recorded,omitempty"`
	Live     json.RawMessage `json:"live,omitempty"`
	// Rule explains every drift of the place, nil if no rule does.
	Rule *rules.Rule `json:"rule,omitempty"`

	pairs []pair
}

// pair is what stood at a place, in the report with that number.
type pair struct {
	report         int
	recorded, live json.RawMessage
}

// From finds the places at which drifts occur at least as often as given, the most
// frequent first.
func From(sources []Source, least int) []Place {
	var list []*Place
	for n, source := range sources {
		for i := range source.Report.Events {
			e := &source.Report.Events[i]
			if e.Verdict != replay.VerdictDrift {
				continue
			}
			for _, d := range reorderings(e.Differences) {
				list = note(list, e, n, d)
			}
		}
	}
	var found []Place
	for _, p := range list {
		if p.Drifts < least {
			continue
		}
		p.Rule = explain(p)
		found = append(found, *p)
	}
	slices.SortStableFunc(found, func(a, b Place) int {
		return cmp.Or(cmp.Compare(b.Drifts, a.Drifts), cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Path, b.Path))
	})
	return found
}

var index = regexp.MustCompile(`\[\d+\]`)

// note adds a difference to the list of places.
func note(list []*Place, e *replay.Event, report int, d replay.Difference) []*Place {
	if d.Cut {
		// Of a value that was cut nobody knows what the rest is.
		return list
	}
	path := index.ReplaceAllString(d.Path, "[*]")
	i := slices.IndexFunc(list, func(p *Place) bool { return p.Kind == e.Kind && p.Tool == e.Tool && p.Path == path })
	if i < 0 {
		i = len(list)
		list = append(list, &Place{Kind: e.Kind, Tool: e.Tool, Path: path, Recorded: d.Recorded, Live: d.Live})
	}
	p := list[i]
	p.Drifts++
	if len(p.pairs) == 0 || p.pairs[len(p.pairs)-1].report != report {
		p.Reports++
	}
	p.pairs = append(p.pairs, pair{report, d.Recorded, d.Live})
	return list
}

var element = regexp.MustCompile(`^(.*)\[\d+\]$`)

// reorderings puts in place of elements that only changed places the array that
// they are elements of, with both orders.
func reorderings(list []replay.Difference) (out []replay.Difference) {
	arrays := map[string][]replay.Difference{}
	for _, d := range list {
		if m := element.FindStringSubmatch(d.Path); m != nil {
			arrays[m[1]] = append(arrays[m[1]], d)
		}
	}
	for _, d := range list {
		m := element.FindStringSubmatch(d.Path)
		if m == nil {
			out = append(out, d)
			continue
		}
		of := arrays[m[1]]
		recorded, live := side(of, true), side(of, false)
		switch {
		case !sameElements(recorded, live):
			out = append(out, d)
		case d.Path == of[0].Path:
			out = append(out, replay.Difference{Path: m[1], Recorded: join(recorded), Live: join(live)})
		}
	}
	return out
}

func side(list []replay.Difference, recorded bool) (values []string) {
	for _, d := range list {
		value := d.Live
		if recorded {
			value = d.Recorded
		}
		values = append(values, string(value))
	}
	return values
}

func sameElements(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return !slices.Contains(a, "") && slices.Equal(a, b)
}

func join(values []string) json.RawMessage {
	out := []byte{'['}
	for i, v := range values {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']')
}
