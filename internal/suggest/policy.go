package suggest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Policy writes the places as a policy file in YAML, each rule with what it was
// learned from, and the places that no rule explains as comments.
func Policy(places []Place, reports int) []byte {
	var b, left bytes.Buffer
	fmt.Fprintf(&b, "# Proposed from %s. A rule takes values for the same that a replay would\n# otherwise report: keep those that are right, and delete the others.\n", count(reports, "report"))
	proposed := 0
	for i := range places {
		p := &places[i]
		if p.Rule == nil {
			fmt.Fprintf(&left, "# %s %s at %s: %s\n", p.Kind, oneLine(p.Tool), orWhole(p.Path), seen(p))
			continue
		}
		if proposed == 0 {
			b.WriteString("rules:\n")
		}
		proposed++
		fmt.Fprintf(&b, "  # %s\n", seen(p))
		r := p.Rule
		fmt.Fprintf(&b, "  - kind: %s\n    tool: %s\n    path: %s\n    match: %s\n", r.Kind, quote(r.Tool), quote(r.Path), r.Match)
		if r.Within > 0 {
			text, _ := r.Within.MarshalText()
			fmt.Fprintf(&b, "    within: %s\n", text)
		}
		if r.Rel > 0 {
			fmt.Fprintf(&b, "    rel: %v\n", r.Rel)
		}
		if r.Pattern != "" {
			fmt.Fprintf(&b, "    pattern: %s\n", quote(r.Pattern))
		}
		if r.Namespace != "" {
			fmt.Fprintf(&b, "    namespace: %s\n", quote(r.Namespace))
		}
	}
	if proposed == 0 {
		b.WriteString("rules: []\n")
	}
	if left.Len() > 0 {
		b.WriteString("# No rule but ignore would explain what differs at these places:\n")
		b.Write(left.Bytes())
	}
	return b.Bytes()
}

func seen(p *Place) string {
	return fmt.Sprintf("%s in %s, such as %s -> %s", count(p.Drifts, "drift"), count(p.Reports, "report"), short(p.Recorded), short(p.Live))
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

func orWhole(path string) string {
	if path == "" {
		return "(whole)"
	}
	return oneLine(path)
}

// quote is text as a JSON string, which YAML reads as the same.
func quote(text string) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	// A string can always be encoded.
	_ = encoder.Encode(text)
	return breaks.Replace(strings.TrimSuffix(b.String(), "\n"))
}

// breaks are what ends a line in YAML and not in JSON.
var breaks = strings.NewReplacer("\u0085", `\u0085`, "\u2028", `\u2028`, "\u2029", `\u2029`)

// oneLine keeps text from ending a comment.
func oneLine(text string) string {
	quoted := quote(text)
	return quoted[1 : len(quoted)-1]
}

// short is a JSON value on one line, cut on a rune border.
func short(value json.RawMessage) string {
	const enough = 60
	if value == nil {
		return "(absent)"
	}
	var b bytes.Buffer
	if json.Compact(&b, value) != nil {
		return "(no JSON)"
	}
	text := breaks.Replace(b.String())
	if len(text) <= enough {
		return text
	}
	end := enough
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
