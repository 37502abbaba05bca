package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/tapedeck/tapedeck/replay/rules"
	"github.com/tapedeck/tapedeck/tape"
)

// MaxDifferences bounds the differences that one error lists.
const MaxDifferences = 100

// Difference is one place where two JSON values differ.
type Difference struct {
	// Path leads to the place: names joined by dots, [2] for an element, names
	// with other than letters, digits, _ and - as ["a.b"]. It is "" where the
	// values as a whole differ in type.
	Path string `json:"path"`
	// Where says it in words, where the session was told how; see [WithPlaces].
	Where string `json:"where,omitempty"`
	// Recorded and Live are the canonical values there; nil where there is none.
	Recorded json.RawMessage `json:"recorded,omitempty"`
	Live     json.RawMessage `json:"live,omitempty"`
	// Cut is set in reports where a value was longer than 4 KiB: what stands
	// there is the beginning of its JSON text, as a string.
	Cut bool `json:"cut,omitempty"`
}

// maxShown is how much of a value a report keeps, in bytes.
const maxShown = 4 << 10

// cutLong shortens values for a report. The error of the call has them whole.
func cutLong(list []Difference) []Difference {
	out := slices.Clone(list)
	for i := range out {
		for _, value := range []*json.RawMessage{&out[i].Recorded, &out[i].Live} {
			if len(*value) > maxShown {
				*value = render(strings.ToValidUTF8(string((*value)[:maxShown]), "") + "…")
				out[i].Cut = true
			}
		}
	}
	return out
}

func (d Difference) String() string {
	path := d.Path
	switch {
	case d.Where != "":
		path = d.Where
	case path == "":
		path = "(whole)"
	}
	return fmt.Sprintf("%s %s -> %s", path, short(d.Recorded), short(d.Live))
}

// short shows a value on one line, cut on a rune border.
func short(value json.RawMessage) string {
	const enough = 80
	switch {
	case value == nil:
		return "(absent)"
	case len(value) <= enough:
		return string(value)
	}
	return strings.ToValidUTF8(string(value[:enough]), "") + "…"
}

// Diff lists every place where two JSON texts differ in the way that keys do:
// order of members, white space around strings and members that are null do not
// matter. Elements of arrays are compared by position. Texts that are equal have
// no differences; an error is that of [tape.Canonical].
func Diff(recorded, live []byte) ([]Difference, error) {
	a, err := parseCanonical(recorded)
	if err != nil {
		return nil, fmt.Errorf("recorded: %w", err)
	}
	b, err := parseCanonical(live)
	if err != nil {
		return nil, fmt.Errorf("live: %w", err)
	}
	var list []Difference
	diffInto(&list, "", a, b)
	return list, nil
}

// parseCanonical decodes the canonical form; numbers keep their spelling.
func parseCanonical(text []byte) (value any, err error) {
	canonical, err := tape.Canonical(text)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(canonical))
	decoder.UseNumber()
	err = decoder.Decode(&value)
	return value, err
}

func diffInto(list *[]Difference, path string, a, b any) {
	switch a := a.(type) {
	case map[string]any:
		if b, ok := b.(map[string]any); ok {
			diffObjects(list, path, a, b)
			return
		}
	case []any:
		if b, ok := b.([]any); ok {
			diffArrays(list, path, a, b)
			return
		}
	default:
		// What is left is comparable, on this side at least.
		if equalLeaf(a, b) {
			return
		}
	}
	*list = append(*list, Difference{Path: path, Recorded: render(a), Live: render(b)})
}

func equalLeaf(a, b any) bool {
	switch b.(type) {
	case map[string]any, []any:
		return false
	}
	return a == b
}

func diffObjects(list *[]Difference, path string, a, b map[string]any) {
	for _, name := range names(a, b) {
		inner := joinName(path, name)
		x, inA := a[name]
		y, inB := b[name]
		switch {
		case !inA:
			*list = append(*list, Difference{Path: inner, Live: render(y)})
		case !inB:
			*list = append(*list, Difference{Path: inner, Recorded: render(x)})
		default:
			diffInto(list, inner, x, y)
		}
	}
}

// names are the names of two objects, in order.
func names(a, b map[string]any) []string {
	list := make([]string, 0, len(a))
	for name := range a {
		list = append(list, name)
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			list = append(list, name)
		}
	}
	sort.Strings(list)
	return list
}

func diffArrays(list *[]Difference, path string, a, b []any) {
	for i := range max(len(a), len(b)) {
		inner := path + "[" + strconv.Itoa(i) + "]"
		switch {
		case i >= len(a):
			*list = append(*list, Difference{Path: inner, Live: render(b[i])})
		case i >= len(b):
			*list = append(*list, Difference{Path: inner, Recorded: render(a[i])})
		default:
			diffInto(list, inner, a[i], b[i])
		}
	}
}

// joinName appends a member's name to a path.
func joinName(path, name string) string {
	return string(rules.AppendName([]byte(path), name))
}

func render(value any) json.RawMessage {
	// The value came out of encoding/json, so it goes back in.
	text, _ := encode(value)
	return text
}

// encode marshals a value without escaping <, > and &.
func encode(value any) (json.RawMessage, error) {
	if raw, ok := value.(json.RawMessage); ok {
		return raw, nil
	}
	var buf bytes.Buffer
	encoder := json.NewEncoder(&buf)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}
