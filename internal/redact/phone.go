package redact

import "strings"

const (
	typePhone = "phone"
	// minPhone and maxPhone bound the digits of a number, country code included.
	minPhone = 9
	maxPhone = 15
	// maxPhoneWord is how far before a number a word such as "Tel." may stand.
	maxPhoneWord = 16
)

// phones appends the telephone numbers in s, as far as their form tells them
// from other numbers: +49 30 1234567 and 0049 30 1234567, (555) 234-5678 and
// 555-234-5678, and what begins with a 0 after a word such as Tel., phone or
// fax. A number without any of these stays.
func phones(s string, out []span) []span {
	for i := 0; i < len(s); {
		c := s[i]
		if c != '+' && c != '(' && !isDigit(c) || i > 0 && (isWordByte(s[i-1]) || strings.IndexByte("+-.,/$", s[i-1]) >= 0 && i > 1 && isWordByte(s[i-2])) {
			i++
			continue
		}
		n := phoneGroups(s, i)
		if n.end == 0 {
			i = max(i+1, digitsEnd(s, i))
			continue
		}
		if n.isPhone(s, i) && !strings.HasPrefix(s[i:], phoneSurrogate) {
			out = append(out, span{start: i, end: n.end, typ: typePhone})
		}
		i = n.end
	}
	return out
}

// grouped is a number written in groups.
type grouped struct {
	end, digits int
	// sizes are those of the first groups; groups counts all.
	sizes  [4]int
	groups int
	// bracket: the first group is in brackets.
	bracket bool
}

// phoneGroups reads the groups of digits at s[i], with one separator between
// two groups, or a bracket and a space.
func phoneGroups(s string, i int) (n grouped) {
	plus := s[i] == '+'
	if plus {
		i++
	}
	open := false
	for i < len(s) {
		if s[i] == '(' && !open && n.groups < 2 {
			open = true
			n.bracket = n.groups == 0
			i++
		}
		first := i
		i = digitsEnd(s, i)
		if i == first {
			break
		}
		n.digits += i - first
		if n.groups < len(n.sizes) {
			n.sizes[n.groups] = i - first
		}
		n.groups++
		n.end = i
		if open && i < len(s) && s[i] == ')' {
			open = false
			i++
		}
		if i < len(s) && strings.IndexByte(" -./", s[i]) >= 0 {
			i++
		}
	}
	if open || n.end < len(s) && isWordByte(s[n.end]) {
		return grouped{}
	}
	return n
}

func (n grouped) isPhone(s string, i int) bool {
	if n.digits < minPhone || n.digits > maxPhone {
		return false
	}
	switch {
	case s[i] == '+':
		return i+1 < len(s) && s[i+1] != '0'
	case strings.HasPrefix(s[i:n.end], "00") && n.groups > 1:
		return n.sizes[0] >= 4 && s[i+2] != '0' && n.digits > minPhone
	case n.groups == 3 && n.sizes[0] == 3 && n.sizes[1] == 3 && n.sizes[2] == 4:
		return isAmerican(s[i:n.end], n.bracket)
	case n.bracket && s[i+1] == '0':
		return true
	}
	return s[i] == '0' && n.digits > minPhone && afterPhoneWord(s[:i])
}

// isAmerican reports whether three groups are those of a number in North
// America, where neither area nor exchange begins with 0 or 1.
func isAmerican(s string, bracket bool) bool {
	s = strings.TrimPrefix(s, "(")
	exchange := strings.TrimLeft(s[3:], ") -./")
	return s[0] >= '2' && exchange[0] >= '2' && (bracket || s[3] == '-' && s[7] == '-')
}

var phoneWords = []string{
	"tel", "phone", "telephone", "telefon", "fon", "fax", "mobile", "mobil", "handy", "cell", "call", "whatsapp", "sms", "number", "no",
}

// afterPhoneWord reports whether s ends in a word that announces a number.
func afterPhoneWord(s string) bool {
	s = strings.TrimRight(s[max(0, len(s)-maxPhoneWord):], " .:=\"'\t")
	for _, w := range phoneWords {
		if n := len(s) - len(w); n >= 0 && strings.EqualFold(s[n:], w) && beginsWord(s, n) {
			return true
		}
	}
	return false
}

func isWholePhone(s string) bool {
	found := phones(s, nil)
	return len(found) == 1 && found[0].start == 0 && found[0].end == len(s)
}
