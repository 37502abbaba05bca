package suggest

import (
	"encoding/json"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/tapedeck/tapedeck/replay/rules"
	"github.com/tapedeck/tapedeck/tape"
)

// explain is the narrowest rule that takes each pair of values of a place for the
// same, nil if there is none.
func explain(p *Place) *rules.Rule {
	for _, r := range candidates(p.pairs) {
		if takesAll(r, p.pairs) {
			r.Kind, r.Tool, r.Path = p.Kind, p.Tool, p.Path
			return &r
		}
	}
	return nil
}

// candidates are the rules to try, the narrowest first.
func candidates(pairs []pair) []rules.Rule {
	list := []rules.Rule{{Match: rules.NFC}, {Match: rules.Case}, {Match: rules.Unordered}}
	if repeated(pairs) {
		list = append(list, idRules(pairs)...)
	}
	list = append(list, rules.Rule{Match: rules.UUID})
	for _, within := range []time.Duration{time.Second, 10 * time.Second, time.Minute, 10 * time.Minute, time.Hour, 24 * time.Hour, 0} {
		list = append(list, rules.Rule{Match: rules.Time, Within: rules.Duration(within)})
	}
	if rel, ok := spread(pairs); ok {
		list = append(list, rules.Rule{Match: rules.Number, Rel: rel})
	}
	if pattern, ok := counted(pairs); ok {
		list = append(list, rules.Rule{Match: rules.Regexp, Pattern: pattern})
	}
	return append(list, idRules(pairs)...)
}

// repeated reports whether a recorded value occurs more than once, as ids do.
func repeated(pairs []pair) bool {
	seen := map[string]bool{}
	for _, p := range pairs {
		at := strconv.Itoa(p.report) + string(p.recorded)
		if seen[at] {
			return true
		}
		seen[at] = true
	}
	return false
}

// takesAll reports whether a rule takes each pair for the same, ids as in one
// session a report.
func takesAll(r rules.Rule, pairs []pair) bool {
	set, err := rules.Compile(&rules.Policy{Rules: []rules.Rule{r}})
	if err != nil {
		return false
	}
	m := set.Args(tape.KindTool, "")
	sessions := map[int]*rules.IDs{}
	for _, p := range pairs {
		recorded, errRecorded := tape.Canonical(p.recorded)
		live, errLive := tape.Canonical(p.live)
		if errRecorded != nil || errLive != nil || len(p.recorded) == 0 || len(p.live) == 0 {
			return false
		}
		ids := sessions[p.report]
		if ids == nil {
			ids = &rules.IDs{}
			sessions[p.report] = ids
		}
		fit := m.Fits(m.Mask(recorded), m.Mask(live), ids)
		if fit == nil {
			return false
		}
		ids.Keep(fit)
	}
	return true
}

// spread is how far numbers are apart in proportion, rounded up; more than half is
// no tolerance.
func spread(pairs []pair) (float64, bool) {
	most := 0.0
	for _, p := range pairs {
		a, errA := strconv.ParseFloat(string(p.recorded), 64)
		b, errB := strconv.ParseFloat(string(p.live), 64)
		if errA != nil || errB != nil {
			return 0, false
		}
		if larger := math.Max(math.Abs(a), math.Abs(b)); larger > 0 {
			most = math.Max(most, math.Abs(a-b)/larger)
		}
	}
	for _, step := range []float64{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5} {
		if most <= step {
			return step, true
		}
	}
	return 0, false
}

var digits = regexp.MustCompile(`\d+`)

// counted is the expression of texts that differ in their digits only.
func counted(pairs []pair) (string, bool) {
	pattern := ""
	for _, p := range pairs {
		for _, raw := range []json.RawMessage{p.recorded, p.live} {
			var text string
			if json.Unmarshal(raw, &text) != nil {
				return "", false
			}
			parts := digits.Split(text, -1)
			for i := range parts {
				parts[i] = regexp.QuoteMeta(parts[i])
			}
			this := strings.Join(parts, `\d+`)
			if pattern != "" && this != pattern {
				return "", false
			}
			pattern = this
		}
	}
	// Digits alone say nothing of what they are.
	return pattern, pattern != `\d+` && strings.Contains(pattern, `\d+`)
}

var idForm = regexp.MustCompile(`^([A-Za-z]+[_-])?([A-Za-z0-9_-]{6,})$`)

// idRules is a rule for ids, if all values look like some: a prefix that they
// share, which names what they are, and letters with digits.
func idRules(pairs []pair) []rules.Rule {
	prefix := ""
	for i, p := range pairs {
		for k, raw := range []json.RawMessage{p.recorded, p.live} {
			var text string
			if json.Unmarshal(raw, &text) != nil {
				return nil
			}
			m := idForm.FindStringSubmatch(text)
			if m == nil || !digits.MatchString(m[2]) {
				return nil
			}
			if i+k > 0 && m[1] != prefix {
				return nil
			}
			prefix = m[1]
		}
	}
	return []rules.Rule{{Match: rules.ID, Namespace: strings.TrimRight(prefix, "_-")}}
}
