package redact

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// keyTables say which names are secret. All words are lower case; a phrase is
// words with one space between.
type keyTables struct {
	// Phrases maps a type to the phrases that name it, with their marks:
	// "api key!" stays secret when unknown words follow, "api key+" is also the
	// end of one word, as in myapikey, and "=auth" is a whole name.
	Phrases map[string][]string `json:"phrases"`
	// Before are words that turn the phrase after them into something else:
	// "has password".
	Before []string `json:"before"`
	// BeforeToken are such words for the phrase "token" alone: "next token".
	BeforeToken []string `json:"before_token"`
	// After are words that turn the phrase before them into something else:
	// "token count", "password policy".
	After []string `json:"after"`
	// Same are words after a phrase that leave it what it is: "password value".
	Same []string `json:"same"`
	// Allow are whole names that are never secret.
	Allow []string `json:"allow,omitempty"`
}

type keyMatcher struct {
	phrases map[string][]phrase // by first word
	suffix  []phrase
	before  map[string]bool
	// beforeToken goes with before for the word token alone.
	beforeToken map[string]bool
	after       map[string]bool
	same        map[string]bool
	allow       map[string]bool
	filter      keyFilter
	names       nameCache
}

type phrase struct {
	words         []string
	typ           string
	strong, whole bool
}

func newKeyMatcher(t keyTables, off map[string]bool) *keyMatcher {
	m := &keyMatcher{
		phrases: map[string][]phrase{},
		before:  set(t.Before), beforeToken: set(t.BeforeToken),
		after: set(t.After), same: set(t.Same), allow: map[string]bool{},
	}
	for _, a := range t.Allow {
		m.allow[strings.Join(splitWords(a), " ")] = true
	}
	for typ, list := range t.Phrases {
		if off[typ] {
			continue
		}
		for _, marked := range list {
			m.add(typ, marked)
		}
	}
	// Of two phrases that match, the same one must win each time.
	for _, list := range m.phrases {
		slices.SortFunc(list, phrase.compare)
	}
	slices.SortFunc(m.suffix, phrase.compare)
	// Short phrases first: longer ones often hold their words.
	all := slices.Concat(slices.Collect(maps.Values(m.phrases))...)
	slices.SortFunc(all, func(a, b phrase) int { return b.compare(a) })
	// What is a client, a host or a license stands in fewer names as a key.
	m.filter.add([]string{"key"})
	for _, p := range all {
		m.filter.add(p.words)
	}
	// A suffix is its phrase in one word.
	for _, p := range m.suffix {
		m.filter.add(p.words)
	}
	return m
}

// add reads a phrase with its marks.
func (m *keyMatcher) add(typ, marked string) {
	p := phrase{typ: typ}
	marked, p.whole = strings.CutPrefix(marked, "=")
	marked, p.strong = strings.CutSuffix(marked, "!")
	marked, suffix := strings.CutSuffix(marked, "+")
	if p.words = splitWords(marked); len(p.words) == 0 {
		return
	}
	m.phrases[p.words[0]] = append(m.phrases[p.words[0]], p)
	if suffix {
		p.words = []string{strings.Join(p.words, "")}
		m.suffix = append(m.suffix, p)
	}
}

// compare puts longer phrases first.
func (p phrase) compare(o phrase) int {
	return cmp.Or(cmp.Compare(len(o.words), len(p.words)), slices.Compare(p.words, o.words), cmp.Compare(p.typ, o.typ))
}

func set(words []string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}

// match judges a name already split into words; dot[i] says that a path
// separator stands before word i.
func (m *keyMatcher) match(words []string, dot []bool) (string, bool) {
	if len(words) == 0 || m.allow[strings.Join(words, " ")] {
		return "", false
	}
	for i := range words {
		for _, p := range m.phrases[words[i]] {
			if p.whole && len(words) != len(p.words) {
				continue
			}
			if hasPhrase(words[i:], p.words) && m.stands(words, dot, i, i+len(p.words), p.strong) {
				return p.typ, true
			}
		}
		for _, p := range m.suffix {
			if strings.HasSuffix(words[i], p.words[0]) && m.stands(words, dot, i, i+1, p.strong) {
				return p.typ, true
			}
		}
	}
	return "", false
}

func hasPhrase(words, p []string) bool {
	if len(words) < len(p) {
		return false
	}
	for i := range p {
		if words[i] != p[i] {
			return false
		}
	}
	return true
}

// stands reports whether the phrase words[i:j] keeps its meaning among its
// neighbours.
func (m *keyMatcher) stands(words []string, dot []bool, i, j int, strong bool) bool {
	if i > 0 && !dot[i] && (m.before[words[i-1]] || j == i+1 && words[i] == "token" && m.beforeToken[words[i-1]]) {
		return false
	}
	for k := j; k < len(words); k++ {
		switch w := words[k]; {
		case m.after[w]:
			return false
		case m.same[w] || isNumber(w):
		case strong || dot[k]:
			return true
		default:
			return false
		}
	}
	return true
}

func isNumber(w string) bool {
	for i := range len(w) {
		if w[i] < '0' || w[i] > '9' {
			return false
		}
	}
	return true
}

// splitWords splits a name at everything that is not a letter or digit and at
// changes of case: "X-API-Key", "xApiKey" and "x.api_key" all give x, api, key.
func splitWords(name string) []string {
	w, _ := splitName(name)
	return w
}

func splitName(name string) (words []string, dot []bool) {
	start := -1
	sawDot := false
	flush := func(end int) {
		if start >= 0 {
			words = append(words, strings.ToLower(name[start:end]))
			dot = append(dot, sawDot && len(dot) > 0)
			start, sawDot = -1, false
		}
	}
	var prev rune
	for i, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush(i)
			if r == '.' || r == '/' || r == '[' || r == ']' {
				sawDot = true
			}
		case start < 0:
			start = i
		case unicode.IsUpper(r) && !unicode.IsUpper(prev):
			flush(i)
			start = i
		case unicode.IsUpper(prev) && unicode.IsUpper(r):
			// The last capital of a run belongs to the word after it: APIKey.
			n, _ := utf8.DecodeRuneInString(name[i+utf8.RuneLen(r):])
			if unicode.IsLower(n) {
				flush(i)
				start = i
			}
		case unicode.IsDigit(r) != unicode.IsDigit(prev):
			flush(i)
			start = i
		}
		prev = r
	}
	flush(len(name))
	return words, dot
}
