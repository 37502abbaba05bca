package redact

import "strings"

const typeIBAN = "iban"

// ibanLengths are how long an account number is in each country of the registry
// of ISO 13616, from the country code on.
var ibanLengths = func() map[string]int {
	const registry = `AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28
		EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30
		KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29
		PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30`
	m := map[string]int{}
	for f := range strings.FieldsSeq(registry) {
		m[f[:2]] = int(f[2]-'0')*10 + int(f[3]-'0')
	}
	return m
}()

// ibans appends the account numbers in s.
func ibans(s string, out []span) []span {
	for i := 2; i+1 < len(s); i++ {
		if !isDigit(s[i]) || !isDigit(s[i+1]) || !isUpper(s[i-1]) || !isUpper(s[i-2]) || !beginsWord(s, i-2) {
			continue
		}
		if end := ibanEnd(s, i-2); end > 0 && isIBAN(s[i-2:end]) {
			out = append(out, span{start: i - 2, end: end, typ: typeIBAN})
			i = end
		}
	}
	return out
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

// ibanEnd is the end of what is written at s[i] as an account number is: in one
// word or in groups of four. It is 0 if nothing is.
func ibanEnd(s string, i int) int {
	if i+4 > len(s) {
		return 0
	}
	length := ibanLengths[s[i:i+2]]
	if length == 0 {
		return 0
	}
	n := 0
	for ; n < length; i++ {
		switch {
		case i >= len(s):
			return 0
		case isDigit(s[i]) || isUpper(s[i]):
			n++
		case s[i] == ' ' && n > 0 && n%4 == 0 && s[i-1] != ' ':
		default:
			return 0
		}
	}
	if i < len(s) && isWordByte(s[i]) {
		return 0
	}
	return i
}

// isIBAN reports whether s is an account number with right check digits.
func isIBAN(s string) bool {
	if len(s) < 4 || ibanEnd(s, 0) != len(s) {
		return false
	}
	check := ibanCheck(s)
	return check >= 2 && check <= 98 && ibanRest(s) == 1
}

// ibanCheck are the check digits as a number, -1 if they are none.
func ibanCheck(s string) int {
	if !isDigit(s[2]) || !isDigit(s[3]) {
		return -1
	}
	return int(s[2]-'0')*10 + int(s[3]-'0')
}

// ibanRest is the number divided by 97, what is left: 1 if it is right.
func ibanRest(s string) int {
	rest := 0
	digit := func(c byte) {
		switch {
		case isDigit(c):
			rest = (rest*10 + int(c-'0')) % 97
		case isUpper(c):
			rest = (rest*100 + int(c-'A') + 10) % 97
		}
	}
	for i := 4; i < len(s); i++ {
		digit(s[i])
	}
	for i := range 4 {
		digit(s[i])
	}
	return rest
}

// ibanSurrogate keeps the country, the groups and where letters and digits are.
// It draws until the check digits that make the sum right are of those that no
// account has; three of 97 are.
func ibanSurrogate(s string, d *draw) string {
	b := []byte(s)
	for {
		for i := 4; i < len(b); i++ {
			switch {
			case isDigit(b[i]):
				b[i] = decimals[d.below(10)]
			case isUpper(b[i]):
				b[i] = uppers[d.below(26)]
			}
		}
		for _, check := range [...]string{"00", "01", "99"} {
			copy(b[2:], check)
			if found := string(b); isIBANSurrogate(found) && len(cards(found, nil)) == 0 {
				return found
			}
		}
	}
}

func isIBANSurrogate(s string) bool {
	if len(s) < 4 || ibanEnd(s, 0) != len(s) {
		return false
	}
	check := ibanCheck(s)
	return (check == 0 || check == 1 || check == 99) && ibanRest(s) == 1
}
