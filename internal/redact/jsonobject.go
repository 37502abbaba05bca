package redact

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// maxPairDepth bounds how deep objects are looked at as pairs, since a pair
// whose value comes first is gone over twice.
const maxPairDepth = 64

// object goes over the object at i. Two things make it more than a loop over
// members: names can be secrets themselves, and in {"name":…,"value":…} the
// content of one member names the other, in whatever order they come.
func (w *jsonWalk) object(i int, c Context, depth int) (int, bool) {
	edits, hits, path := len(w.edits), len(w.hits.List), len(w.path)
	var pair, used pairName
	end, ok := w.members(i, c, depth, &pair, &used)
	if ok && used.seen && used.typ != pair.typ && depth <= maxPairDepth {
		w.edits, w.hits.List, w.path = w.edits[:edits], w.hits.List[:hits], w.path[:path]
		final := pair
		end, ok = w.members(i, c, depth, &final, &used)
	}
	return end, ok
}

// pairName is the secret name that members give to the value beside them. Of
// several the one in the member that sorts first counts, so that their order
// does not matter.
type pairName struct {
	member, typ string
	seen        bool
}

// named takes note of the member that has the content name.
func (p *Policy) named(pair *pairName, member, name string) {
	var ignored Hits
	if typ, secret := p.KeySecret(p.text(name, 0, &ignored)); secret && (pair.typ == "" || member < pair.member) {
		pair.member, pair.typ = member, typ
	}
}

func (w *jsonWalk) members(i int, c Context, depth int, pair, used *pairName) (int, bool) {
	start := i
	i = w.space(i + 1)
	if i < len(w.s) && w.s[i] == '}' {
		return i + 1, true
	}
	renamed := false
	w.path = append(w.path, Step{Index: -1})
	for i < len(w.s) && w.s[i] == '"' {
		end, escapes, ok := stringEnd(w.s, i)
		if !ok {
			return i, false
		}
		key := w.s[i+1 : end-1]
		if escapes {
			key = string(appendDecoded(nil, key))
		}
		name := w.name(key)
		renamed = renamed || name != key
		w.path[len(w.path)-1].Name = name
		if i = w.space(end); i >= len(w.s) || w.s[i] != ':' {
			return i, false
		}
		i = w.space(i + 1)
		member := w.p.Member(c, name)
		if IsPairValue(key) {
			member = member.pair(pair.typ)
			used.seen, used.typ = true, pair.typ
		}
		before := i
		if i, ok = w.value(i, member, depth+1); !ok {
			return i, false
		}
		if IsPairName(key) && w.s[before] == '"' {
			w.p.named(pair, key, decoded(w.s[before+1:i-1]))
		}
		if i = w.space(i); i >= len(w.s) {
			return i, false
		}
		if w.s[i] == '}' {
			w.path = w.path[:len(w.path)-1]
			if renamed {
				w.rename(start)
			}
			return i + 1, true
		}
		if w.s[i] != ',' {
			return i, false
		}
		i = w.space(i + 1)
	}
	return i, false
}

// name redacts a member name. Its place in the text is edited by rename, once
// all names of the object are known.
func (w *jsonWalk) name(key string) string {
	n := len(w.hits.List)
	name := w.p.Name(key, w.hits)
	if len(w.hits.List) > n {
		w.path[len(w.path)-1].Name = name
		at := w.path.String()
		for k := range w.hits.List[n:] {
			w.hits.List[n+k].Path = at
		}
	}
	return name
}

// rename edits the names of the object at start.
func (w *jsonWalk) rename(start int) {
	var from, to []string
	var at [][2]int
	for i := w.space(start + 1); w.s[i] == '"'; {
		end, _, _ := stringEnd(w.s, i)
		key := decoded(w.s[i+1 : end-1])
		var ignored Hits
		from, to, at = append(from, key), append(to, w.p.Name(key, &ignored)), append(at, [2]int{i, end})
		i = w.space(skip(w.s, w.space(w.space(end)+1)))
		if w.s[i] == ',' {
			i = w.space(i + 1)
		}
	}
	KeepApart(from, to)
	for k := range from {
		if to[k] != from[k] {
			w.edits = append(w.edits, edit{at[k][0], at[k][1], encode(to[k])})
		}
	}
}

// KeepApart numbers new names of one object that would be equal to another of
// its names: "[REDACTED:email]", "[REDACTED:email]#2". The numbers follow the
// order of the old names, so that they do not depend on the order of members.
func KeepApart(from, to []string) {
	taken := map[string]bool{}
	var changed []int
	for i := range from {
		if from[i] == to[i] {
			taken[to[i]] = true
		} else {
			changed = append(changed, i)
		}
	}
	slices.SortStableFunc(changed, func(a, b int) int { return cmp.Compare(from[a], from[b]) })
	given := map[string]string{}
	for _, i := range changed {
		if name, ok := given[from[i]]; ok {
			to[i] = name
			continue
		}
		name := to[i]
		for n := 2; taken[name]; n++ {
			name = to[i] + "#" + strconv.Itoa(n)
		}
		taken[name] = true
		given[from[i]] = name
		to[i] = name
	}
}

// skip is the index after the value at i of a text known to be valid.
func skip(s string, i int) int {
	for depth := 0; i < len(s); {
		switch s[i] {
		case '"':
			i, _, _ = stringEnd(s, i)
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
			i++
		case ',', ':', ' ', '\n', '\r', '\t':
			if depth == 0 {
				return i
			}
			i++
			continue
		default:
			i += strings.IndexAny(s[i:]+",", ",:]} \n\r\t")
		}
		if depth == 0 {
			return i
		}
	}
	return i
}
