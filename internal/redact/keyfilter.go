package redact

// keyFilter tells most names that hold no secret word from the others without
// splitting them into words. Of each phrase it knows three letters in a row of
// one word, which a name with the phrase in it must have too.
type keyFilter [1 << (filterBits - 6)]uint64

const filterBits = 12

// fold makes small letters of three and leaves digits alone.
func fold(t uint32) uint32 { return (t&0xffffff | 0x202020) * 0x9e3779b1 >> (32 - filterBits) }

func (f *keyFilter) has(h uint32) bool { return f[h>>6]&(1<<(h&63)) != 0 }

// add makes the filter let through names with the phrase.
func (f *keyFilter) add(words []string) {
	longest := ""
	for _, w := range words {
		if len(w) > len(longest) {
			longest = w
		}
		for i := 0; i+3 <= len(w); i++ {
			if f.has(fold(three(w, i))) {
				return
			}
		}
	}
	if len(longest) < 3 {
		// Nothing to go by: let everything through.
		for i := range f {
			f[i] = ^uint64(0)
		}
		return
	}
	h := fold(three(longest, (len(longest)-3)/2))
	f[h>>6] |= 1 << (h & 63)
}

// passes reports whether name may hold a phrase.
func (f *keyFilter) passes(name string) bool {
	for i := range len(name) {
		if name[i] >= 0x80 {
			// Small and capital letters differ in other ways.
			return true
		}
		if i+3 <= len(name) && f.has(fold(three(name, i))) {
			return true
		}
	}
	return false
}

func three(s string, i int) uint32 {
	return uint32(s[i]) | uint32(s[i+1])<<8 | uint32(s[i+2])<<16
}
