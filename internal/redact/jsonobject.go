package redact

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// object goes over the object at i. Two things make it more than a loop over
// members: names can be secrets themselves, and in {"name":…,"value":…} the
// content of one member names the other, in whatever order they come.
func (w *jsonWalk) object(i int, c Context, depth int) (int, bool) {
	start := i
	i = w.space(i + 1)
	if i < len(w.s) && w.s[i] == '}' {
		return i + 1, true
	}
	var pair pairState
	renamed := false
	w.path = append(w.path, step{index: -1})
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
		if name != key {
			renamed = true
		}
		w.path[len(w.path)-1].name = name
		if i = w.space(end); i >= len(w.s) || w.s[i] != ':' {
			return i, false
		}
		i = w.space(i + 1)
		before := i
		if IsPairValue(key) {
			pair.mark(w, i)
			i, ok = w.value(i, w.p.Pair(w.p.Member(c, key), pair.name), depth+1)
			pair.end, pair.edits1, pair.hits1 = i, len(w.edits), len(*w.hits)
		} else {
			i, ok = w.value(i, w.p.Member(c, key), depth+1)
			if ok && IsPairName(key) && w.s[before] == '"' {
				pair.named(w, decoded(w.s[before+1:i-1]), c, depth)
			}
		}
		if !ok {
			return i, false
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
	n := len(*w.hits)
	name := w.p.Name(key, w.hits)
	if len(*w.hits) > n {
		w.path[len(w.path)-1].name = name
		at := w.pathText()
		for k := range (*w.hits)[n:] {
			(*w.hits)[n+k].Path = at
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
		var ignored []Hit
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

// pairState remembers the value of a pair until its name is known.
type pairState struct {
	name           string
	seen           bool
	start, end     int
	edits0, edits1 int
	hits0, hits1   int
}

func (ps *pairState) mark(w *jsonWalk, i int) {
	ps.seen, ps.start = true, i
	ps.edits0, ps.hits0 = len(w.edits), len(*w.hits)
}

// named notes a name; if the value came before it and the name is secret, the
// value is gone over again.
func (ps *pairState) named(w *jsonWalk, name string, c Context, depth int) {
	if _, secret := w.p.KeySecret(name); !secret {
		return
	}
	if !ps.seen {
		ps.name = name
		return
	}
	w.edits = slices.Delete(w.edits, ps.edits0, ps.edits1)
	*w.hits = slices.Delete(*w.hits, ps.hits0, ps.hits1)
	last := &w.path[len(w.path)-1].name
	saved := *last
	*last = "value"
	w.value(ps.start, w.p.Pair(w.p.Member(c, "value"), name), depth+1)
	*last = saved
	// The edits are at the end now: a second name finds nothing to take back.
	ps.seen = false
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
