package redact

import (
	"encoding/base64"
	"math"
	"strings"
)

const (
	typeCard     = "card"
	typePassword = "password"
	minCard      = 14
	maxCard      = 16
)

// MinNumber is the least number that can be secret by its value.
const MinNumber = 1e13

// validators are the checks a rule can name.
var validators = map[string]func(string) bool{
	"":        func(string) bool { return true },
	"luhn":    luhn,
	"entropy": func(s string) bool { return entropy(s) >= 3 },
	"mixed":   mixed,
	"random":  byChance,
	"basic":   basicCredentials,
	"word":    func(s string) bool { return digitsEnd(s, 0) < len(s) && !isVariable(s) },
}

// isCard reports whether s, digits only, is a payment card number: the length
// and the first digits of an issuer, and a right check digit.
func isCard(s string) bool {
	if len(s) < minCard || len(s) > maxCard {
		return false
	}
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	head := 0
	for i := range 4 {
		head = head*10 + int(s[i]-'0')
	}
	known := false
	switch len(s) {
	case 14: // Diners Club
		known = head >= 3000 && head <= 3059 || head/100 == 36 || head/100 == 38
	case 15: // American Express
		known = head/100 == 34 || head/100 == 37
	case 16: // Visa, Mastercard (both ranges), Discover, JCB, UnionPay
		known = head/1000 == 4 || head >= 5100 && head <= 5599 || head >= 2221 && head <= 2720 ||
			head == 6011 || head/100 == 65 || head >= 6440 && head <= 6499 ||
			head >= 3528 && head <= 3589 || head/100 == 62
	}
	return known && luhn(s)
}

// luhn reports whether the last of the digits of s is the right check digit.
func luhn(s string) bool {
	sum, n := 0, 0
	for i := len(s) - 1; i >= 0; i-- {
		if s[i] == ' ' || s[i] == '-' {
			continue
		}
		if !isDigit(s[i]) {
			return false
		}
		d := int(s[i] - '0')
		if n%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
		n++
	}
	return n > 1 && sum%10 == 0
}

// entropy is the Shannon entropy of the bytes of s, in bits a byte.
func entropy(s string) float64 {
	var count [256]int
	for i := range len(s) {
		count[s[i]]++
	}
	e := 0.0
	for _, n := range count {
		if n > 0 {
			f := float64(n) / float64(len(s))
			e -= f * math.Log2(f)
		}
	}
	return e
}

// mixed reports whether s looks made by a machine: digits among letters, and
// not the same few characters again and again.
func mixed(s string) bool {
	digits, letters := 0, 0
	for i := range len(s) {
		switch {
		case isDigit(s[i]):
			digits++
		case isAlnum(s[i]):
			letters++
		}
	}
	return digits > 0 && letters > 0 && entropy(s) >= 3
}

// basicCredentials reports whether s is user:password in base64.
func basicCredentials(s string) bool {
	b, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
	if err != nil {
		return false
	}
	colon := false
	for _, c := range b {
		if c < 0x20 || c == 0x7f {
			return false
		}
		colon = colon || c == ':'
	}
	return colon
}

// maxVariable bounds what may stand for a value instead of being one.
const maxVariable = 64

// isVariable reports whether s stands for a value instead of being one: $NAME,
// ${name}, $(command), ${{ name }}, {{ name }}, <name>, %s, $1, ?.
func isVariable(s string) bool {
	if s == "?" {
		return true
	}
	if len(s) < 2 || len(s) > maxVariable {
		return false
	}
	for _, q := range [...][2]string{{"${{", "}}"}, {"${", "}"}, {"$(", ")"}, {"{{", "}}"}, {"{", "}"}, {"<", ">"}} {
		if len(s) > len(q[0])+len(q[1]) && strings.HasPrefix(s, q[0]) && strings.HasSuffix(s, q[1]) {
			inside := strings.TrimSpace(s[len(q[0]) : len(s)-len(q[1])])
			return inside != "" && !strings.ContainsAny(inside, "\"'`=:;&<>{}")
		}
	}
	if s[0] == '%' && len(s) <= len("%+v") {
		return true
	}
	if s[0] != '$' || digitsEnd(s, 1) == len(s) {
		return s[0] == '$'
	}
	for i := 1; i < len(s); i++ {
		if s[i] != '_' && (s[i] < 'A' || s[i] > 'Z') && (i == 1 || !isDigit(s[i])) {
			return false
		}
	}
	return true
}

// beginsVariable reports whether s begins with ${name}, $(command) or
// {{ name }}, which hold characters that end words.
func beginsVariable(s string) bool {
	if !strings.HasPrefix(s, "${") && !strings.HasPrefix(s, "$(") && !strings.HasPrefix(s, "{{") {
		return false
	}
	s = s[:min(len(s), maxVariable)]
	end := strings.IndexAny(s, "})")
	if end > 0 && (s[:2] == "{{" || strings.HasPrefix(s, "${{")) {
		end++
	}
	return end > 0 && end < len(s) && isVariable(s[:end+1])
}

// isFilePath reports whether s begins as an absolute path does, which tells the
// working directory in pwd from a password.
func isFilePath(s string) bool {
	return strings.HasPrefix(s, "/") || s == "~" || strings.HasPrefix(s, "~/") ||
		len(s) > 2 && s[1] == ':' && s[2] == '\\'
}
