package redact

import "strings"

// The forms below have no keyword to look for: an address is found from its @,
// a URL from its ://, a card number from its digits.

const (
	typeEmail = "email"
	maxLocal  = 64
	maxDomain = 255
	maxUser   = 512
)

// emails appends the e-mail addresses in s. The @ behind the password of a URL,
// in order in urls, is none of one.
func emails(s string, urls, out []span) []span {
	for i := 0; ; i++ {
		j := strings.IndexByte(s[i:], '@')
		if j < 0 {
			return out
		}
		i += j
		for len(urls) > 0 && urls[0].end < i {
			urls = urls[1:]
		}
		if len(urls) == 0 || urls[0].end != i {
			out = email(s, i, i+1, out)
		}
	}
}

// quotedEmails appends the addresses whose @ is percent-encoded.
func quotedEmails(s string, out []span) []span {
	for i := 0; ; i++ {
		j := strings.Index(s[i:], "%40")
		if j < 0 {
			return out
		}
		i += j
		out = email(s, i, i+3, out)
	}
}

// email appends the address whose @ is s[at:rest].
func email(s string, at, rest int, out []span) []span {
	a := at
	for a > 0 && at-a < maxLocal && isLocalByte(s[a-1]) {
		a--
	}
	for a < at && !isAlnum(s[a]) && s[a] != '_' {
		a++
	}
	// The n of an escaped line break is not the address's.
	if a > 0 && s[a-1] == '\\' && a < at && (s[a] == 'n' || s[a] == 'r' || s[a] == 't') {
		a++
	}
	b := domainEnd(s, rest)
	if a == at || s[at-1] == '.' || b == 0 {
		return out
	}
	// git@host:path and git@host/path name a repository.
	if s[a:at] == "git" || s[rest:b] == surrogateDomain || isURLUser(s, a, b) {
		return out
	}
	return append(out, span{start: a, end: b, typ: typeEmail})
}

// isURLUser reports whether s[a:b] is user@host of a URL.
func isURLUser(s string, a, b int) bool {
	if !strings.HasSuffix(s[:a], "://") || strings.HasSuffix(s[:a], "mailto://") {
		return false
	}
	return b == len(s) || s[b] == '/' || s[b] <= ' ' || s[b] == ':' && isDigit(byteAt(s, b+1))
}

func isLocalByte(c byte) bool {
	return isWordByte(c) || c == '.' || c == '-' || c == '+' || c == '\'' || c == '!' || c == '#' || c == '&' || c == '*' || c == '~' || c >= 0x80
}

// domainEnd is the end of the domain name at s[i], 0 if there is none.
func domainEnd(s string, i int) int {
	end, label := 0, i
	for j := i; j <= len(s) && j-i <= maxDomain; j++ {
		if j < len(s) && (isAlnum(s[j]) || s[j] == '-') {
			continue
		}
		if j == label || s[label] == '-' || s[j-1] == '-' {
			break
		}
		if label > i && isTopLevel(s[label:j]) {
			end = j
		} else if label > i {
			end = 0
		}
		if j == len(s) || s[j] != '.' {
			break
		}
		label = j + 1
	}
	return end
}

func isTopLevel(s string) bool {
	if len(s) < 2 || notTopLevel[strings.ToLower(s)] {
		return false
	}
	if strings.HasPrefix(s, "xn--") {
		return true
	}
	for i := range len(s) {
		if s[i]|0x20 < 'a' || s[i]|0x20 > 'z' {
			return false
		}
	}
	return len(s) <= 24
}

// What follows the last dot in icon@2x.png, a@b.shape and pkg@file.json.
var notTopLevel = set([]string{
	"png", "jpg", "jpeg", "gif", "svg", "webp", "ico", "css", "scss", "js", "jsx", "tsx", "mjs", "cjs",
	"json", "html", "yaml", "yml", "toml", "tgz", "gz", "txt", "shape", "dtype", "values", "min", "max", "sum", "mean",
})

// urlPasswords appends the passwords of URLs: scheme://user:password@host.
func urlPasswords(s string, out []span) []span {
	for i := 0; ; {
		j := strings.Index(s[i:], "://")
		if j < 0 {
			return out
		}
		i += j + 3
		colon, at := -1, -1
		for k := i; k < len(s) && k-i < maxUser; k++ {
			if n := placeholderLen(s[k:]); n > 0 {
				k += n - 1
				continue
			}
			c := s[k]
			if c <= ' ' || c == '/' || c == '"' || c == '\'' || c == '<' || c == '>' || c == '`' || c == '\\' {
				break
			}
			if c == ':' && colon < 0 {
				colon = k
			}
			if c == '@' {
				at = k
			}
		}
		if colon >= 0 && at > colon+1 && !isVariable(s[colon+1:at]) && !IsSurrogate(s[colon+1:at]) {
			out = append(out, span{start: colon + 1, end: at, typ: typePassword})
		}
	}
}

// cards appends the card numbers in s. A number of fourteen digits or more
// covers one of any fourteen positions in a row, so looking at each fourteenth
// byte misses none.
func cards(s string, out []span) []span {
	for i := minCard - 1; i < len(s); i += minCard {
		if !isDigit(s[i]) && s[i] != ' ' && s[i] != '-' {
			continue
		}
		a, b := i, i+1
		for a > 0 && isCardByte(s[a-1]) {
			a--
		}
		for b < len(s) && isCardByte(s[b]) {
			b++
		}
		if b-a >= minCard {
			out = cardsIn(s, a, b, out)
		}
		if b > i+minCard {
			i = b - minCard
		}
	}
	return out
}

func isDigit(c byte) bool    { return c >= '0' && c <= '9' }
func isCardByte(c byte) bool { return isDigit(c) || c == ' ' || c == '-' }

// cardsIn looks at the groups of digits in s[a:b], which holds digits, spaces
// and dashes only.
func cardsIn(s string, a, b int, out []span) []span {
	for i := a; i < b; {
		if !isDigit(s[i]) {
			i++
			continue
		}
		end := cardEnd(s, i, b)
		if end == 0 {
			i = digitsEnd(s, i)
			continue
		}
		out = append(out, span{start: i, end: end, typ: typeCard})
		i = end
	}
	return out
}

// cardEnd is the end of the card number at s[i], 0 if there is none.
func cardEnd(s string, i, limit int) int {
	if i > 0 && (isWordByte(s[i-1]) || s[i-1] == '.' && i > 1 && isDigit(s[i-2])) {
		return 0
	}
	var digits [maxCard]byte
	n, groups := 0, 0
	var shape [4]int
	var sep byte
	for j := i; ; j++ {
		first := j
		j = min(digitsEnd(s, j), limit)
		if j == first || groups == len(shape) || n+j-first > maxCard {
			return 0
		}
		shape[groups] = j - first
		n += copy(digits[n:], s[first:j])
		groups++
		if cardShape(shape[:groups]) {
			if !endsCard(s, j, sep) || !isCard(string(digits[:n])) {
				return 0
			}
			return j
		}
		if j+1 >= limit || isDigit(s[j]) || sep != 0 && s[j] != sep || !isDigit(s[j+1]) {
			return 0
		}
		sep = s[j]
	}
}

// cardShape reports whether digits are grouped as on a card, or not grouped.
func cardShape(g []int) bool {
	switch len(g) {
	case 1:
		return g[0] >= minCard && g[0] <= maxCard
	case 3:
		return g[0] == 4 && g[1] == 6 && (g[2] == 5 || g[2] == 4)
	case 4:
		return g[0] == 4 && g[1] == 4 && g[2] == 4 && g[3] == 4
	}
	return false
}

// endsCard reports whether a number can end at s[j]: nothing of the same word
// follows, and no further group of four as in a table.
func endsCard(s string, j int, sep byte) bool {
	if j == len(s) {
		return true
	}
	if isWordByte(s[j]) || s[j] == '.' && j+1 < len(s) && isDigit(s[j+1]) {
		return false
	}
	return sep == 0 || s[j] != sep || digitsEnd(s, j+1)-(j+1) != 4
}
