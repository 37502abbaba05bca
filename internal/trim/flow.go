package trim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tapedeck/tapedeck/tape"
)

// Bounds: how long a value must be to tell where it comes from, how deep JSON inside
// strings is read, and how much text is searched for values inside others.
const (
	minText    = 3
	minDigits  = 2
	minInside  = 6
	maxNest    = 4
	maxScanned = 64 << 20
)

// flow knows which result holds a value, and which model call asked for a call.
type flow struct {
	t *tape.Tape
	// holders are the records whose result holds a value, ascending.
	holders map[string][]int
	// askers are the model calls whose result asks for a call of that id, callers the
	// tool calls that have it, both ascending.
	askers, callers map[string][]int
	// spans are the records by the id of their span.
	spans   map[string]int
	scanned int
}

// source is a record that a value comes from.
type source struct {
	at    int
	value string
}

func newFlow(t *tape.Tape) *flow {
	f := &flow{t: t, holders: map[string][]int{}, askers: map[string][]int{}, callers: map[string][]int{}, spans: map[string]int{}}
	for i := range t.Records {
		rec := &t.Records[i]
		f.spans[rec.StepID] = i
		result := decode(rec.Result)
		if rec.KindOf() == tape.KindModel {
			eachPart(result, func(kind, id string) {
				if kind == "tool_call" {
					f.askers[id] = append(f.askers[id], i)
				}
			})
			continue
		}
		if rec.ToolCallID != "" {
			f.callers[rec.ToolCallID] = append(f.callers[rec.ToolCallID], i)
		}
		eachValue(result, 0, func(v string) {
			if list := f.holders[v]; len(list) == 0 || list[len(list)-1] != i {
				f.holders[v] = append(list, i)
			}
		})
	}
	return f
}

func decode(raw json.RawMessage) (v any) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return nil
	}
	return v
}

// last is the last of ascending indexes before a place, -1 for none.
func last(list []int, before int) int {
	for k := len(list) - 1; k >= 0; k-- {
		if list[k] < before {
			return list[k]
		}
	}
	return -1
}

// asker is the model call that asked for a tool call, -1 for none.
func (f *flow) asker(i int) int {
	if id := f.t.Records[i].ToolCallID; id != "" {
		return last(f.askers[id], i)
	}
	return -1
}

func (f *flow) asked(id string, before int) int  { return last(f.askers[id], before) }
func (f *flow) called(id string, before int) int { return last(f.callers[id], before) }

// sources are the records that values of the arguments of a call come from: of each
// value the last one before it.
func (f *flow) sources(i int) (out []source) {
	seen := map[int]bool{}
	eachValue(decode(f.t.Records[i].Args), 0, func(v string) {
		at := last(f.holders[v], i)
		if at < 0 && !strings.HasPrefix(v, "#") && len(v) >= minInside {
			at = f.inside(v, i)
		}
		if at >= 0 && !seen[at] {
			seen[at] = true
			out = append(out, source{at, shown(v)})
		}
	})
	return out
}

// inside looks for a text in the results before a record, the last first.
func (f *flow) inside(text string, before int) int {
	quoted, err := json.Marshal(text)
	if err != nil {
		return -1
	}
	inner := quoted[1 : len(quoted)-1]
	for k := before - 1; k >= 0; k-- {
		rec := &f.t.Records[k]
		if rec.KindOf() == tape.KindModel {
			continue
		}
		if f.scanned += len(rec.Result); f.scanned > maxScanned {
			return -1
		}
		if bytes.Contains(rec.Result, inner) {
			return k
		}
	}
	return -1
}

// shown is a value for people, cut on a rune border.
func shown(v string) string {
	const most = 40
	v = strings.TrimPrefix(v, "#")
	if utf8.RuneCountInString(v) > most {
		v = string([]rune(v)[:most]) + "…"
	}
	return fmt.Sprintf("%q", v)
}

// eachValue gives the texts and numbers in a value that are long enough to be told
// from others, numbers with a # in front. Strings that hold JSON are looked into.
func eachValue(v any, nest int, use func(string)) {
	switch v := v.(type) {
	case map[string]any:
		// In order, so that the same tape gives the same reasons.
		for _, name := range slices.Sorted(maps.Keys(v)) {
			eachValue(v[name], nest, use)
		}
	case []any:
		for _, inner := range v {
			eachValue(inner, nest, use)
		}
	case json.Number:
		if len(strings.Trim(v.String(), "-.")) >= minDigits {
			use("#" + v.String())
		}
	case string:
		text := strings.TrimSpace(v)
		if nest < maxNest && text != "" && (text[0] == '{' || text[0] == '[') {
			if inner := decode(json.RawMessage(text)); inner != nil {
				eachValue(inner, nest+1, use)
				return
			}
		}
		if utf8.RuneCountInString(text) >= minText {
			use(text)
		}
	}
}

// eachPart gives type and id of the parts of messages, wherever they stand.
func eachPart(v any, use func(kind, id string)) {
	switch v := v.(type) {
	case map[string]any:
		kind, _ := v["type"].(string)
		if id, ok := v["id"].(string); ok && id != "" {
			use(kind, id)
		}
		for _, inner := range v {
			eachPart(inner, use)
		}
	case []any:
		for _, inner := range v {
			eachPart(inner, use)
		}
	}
}
