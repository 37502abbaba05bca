package redact

import (
	"cmp"
	"slices"
	"strings"
)

// Signatures, encrypted reasoning, pictures and other bytes in base64 are
// opaque: no rule looks inside them, since what looks like a secret there is
// chance, and a changed byte spoils all of them. Opaque is
//
//   - a run of at least 128 characters of one base64 alphabet that looks drawn
//     by chance: capitals, small letters and digits, changing from one to the
//     next as often as chance has it, which neither words nor paths do;
//   - what follows ";base64," in a data: URL;
//   - a string of base64 under a name such as encrypted_content or
//     thoughtSignature; see opaqueNames.
//
// A secret is base64 at times too. A match therefore stands if it begins where
// the run begins, or so near that what is before it cannot be told from a name
// (the first 24 characters), and a secret name is stronger than any of this.

const (
	minRun = 128
	// runStep is how often a text is probed; each run holds two probes.
	runStep = 64
	// runHead is how much of a run is searched all the same.
	runHead = 64
	// minHead is how much of a run must be before a match for it to be chance.
	minHead = 24
	// sampled bounds how much of a run is looked at to judge it.
	sampled = 1024
	// dataSign stands before the base64 in a data: URL.
	dataSign = ";base64,"
)

// run is a range of a text that is opaque. A match that begins in its first
// head bytes stands.
type run struct {
	start, end, head int
}

// What a byte is in base64.
const (
	b64Upper = 1 + iota
	b64Lower
	b64Digit
	b64Std // + and /
	b64URL // - and _
)

var b64Class = func() (t [256]uint8) {
	for c := range 26 {
		t['A'+c], t['a'+c] = b64Upper, b64Lower
	}
	for c := '0'; c <= '9'; c++ {
		t[c] = b64Digit
	}
	t['+'], t['/'], t['-'], t['_'] = b64Std, b64Std, b64URL, b64URL
	return t
}()

// runAt looks for an opaque run around s[i]; it has no end if there is none. It
// also returns up to where there is no need to ask again.
func runAt(s string, i int) (run, int) {
	if i+runStep > len(s) {
		return run{}, i
	}
	for k := 0; k < runStep; k += runStep/4 - 1 {
		if b64Class[s[i+k]] == 0 {
			return run{}, i
		}
	}
	b, alphabet := base64End(s, i, 0)
	if b-i < runStep {
		return run{}, i
	}
	a := i
	for a > 0 {
		c := b64Class[s[a-1]]
		if c >= b64Std && alphabet == 0 {
			alphabet = c
		}
		if c == 0 || c >= b64Std && c != alphabet {
			break
		}
		a--
	}
	a = afterEscape(s, a)
	if b-a < minRun || !byChance(s[a:min(b, a+sampled)]) || !byChance(s[a:a+runHead]) {
		return run{}, b
	}
	return run{start: a, end: padding(s, b), head: minHead}, b
}

// base64End is the end of the base64 at s[i] and the class that marks its
// alphabet, 0 if either would do.
func base64End(s string, i int, alphabet uint8) (int, uint8) {
	for i < len(s) {
		c := b64Class[s[i]]
		if c >= b64Std {
			if alphabet == 0 {
				alphabet = c
			}
			if c != alphabet {
				break
			}
		}
		if c == 0 {
			break
		}
		i++
	}
	return i, alphabet
}

func padding(s string, i int) int {
	for n := 0; n < 2 && i < len(s) && s[i] == '='; n++ {
		i++
	}
	return i
}

// afterEscape moves the begin of a run behind the letters of an escape.
func afterEscape(s string, a int) int {
	if a > 0 && a+2 < len(s) {
		switch c := s[a]; {
		case s[a-1] == '\\' && (c == 'n' || c == 'r' || c == 't'):
			return a + 1
		case s[a-1] == '\\' && c == 'u':
			return min(a+5, len(s))
		case s[a-1] == '%' && isHex(c) && isHex(s[a+1]):
			return a + 2
		}
	}
	return a
}

// byChance reports whether s, all base64, looks drawn by chance. Of 100
// characters chance makes about 41 capitals, 41 small letters and 16 digits, and
// 64 that are of another kind than the one before.
func byChance(s string) bool {
	var n [6]int
	changes := 0
	last := uint8(0)
	for i := range len(s) {
		c := b64Class[s[i]]
		n[c]++
		if c != last {
			changes++
		}
		last = c
	}
	return n[b64Upper]*10 >= len(s) && n[b64Lower]*10 >= len(s) && n[b64Digit]*33 >= len(s) && changes*5 >= len(s)*2
}

// opaqueNames are names, or the ends of names, of members that hold signatures,
// encrypted reasoning and pictures.
var opaqueNames = []string{
	"signature", "encryptedcontent", "encryptedreasoning", "encryptedindex", "redactedcontent", "b64json",
	"imagedata", "audiodata", "imagebytes", "audiobytes",
}

// isOpaqueName looks at the last part of a name with dots.
func isOpaqueName(name string) bool {
	last := strings.Join(splitWords(name[strings.LastIndexByte(name, '.')+1:]), "")
	return slices.ContainsFunc(opaqueNames, func(end string) bool { return strings.HasSuffix(last, end) })
}

// isBase64 reports whether s is base64 of one alphabet and nothing else, and
// too long for a word.
func isBase64(s string) bool {
	const shortest = 32
	b, _ := base64End(s, 0, 0)
	return len(s) >= shortest && padding(s, b) == len(s)
}

// data notes the base64 of a data: URL at s[i].
func (f *findings) data(s string, i int) {
	if b, _ := base64End(s, i, 0); b > i {
		f.runs = append(f.runs, run{start: i, end: padding(s, b)})
	}
}

// inside reports whether s[i] lies where s is opaque.
func (f *findings) inside(s string, i int) bool {
	n, _ := slices.BinarySearchFunc(f.runs, i, func(r run, i int) int { return cmp.Compare(r.end, i+1) })
	if n == len(f.runs) || i < f.runs[n].start {
		return false
	}
	r := f.runs[n]
	before := i - r.start
	return r.head == 0 || before >= runHead || before >= r.head && byChance(s[r.start:i])
}
