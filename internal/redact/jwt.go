package redact

import "strings"

const (
	typeJWT = "jwt"
	// jwtHead is how {" begins in base64, and with it every token.
	jwtHead = "eyJ"
	minPart = 8
)

// jwts appends the JSON web tokens in s: a header and a payload that are JSON
// in base64, and a signature, which may be empty or cut.
func jwts(s string, out []span) []span {
	for i := 0; ; {
		j := strings.Index(s[i:], jwtHead)
		if j < 0 {
			return out
		}
		i += j
		end := partEnd(s, i)
		if beginsWord(s, i) && end-i >= minPart && strings.HasPrefix(s[end:], "."+jwtHead) {
			start := i
			i = partEnd(s, end+1)
			// A signed token has one part more, an encrypted one three.
			for n := 0; n < 3 && i < len(s) && s[i] == '.' && (i+1 == len(s) || isBase64URL(s[i+1])); n++ {
				i = partEnd(s, i+1)
			}
			out = append(out, span{start: start, end: i, typ: typeJWT})
			continue
		}
		i = end
	}
}

func partEnd(s string, i int) int {
	for i < len(s) && isBase64URL(s[i]) {
		i++
	}
	return i
}

func isBase64URL(c byte) bool { return isWordByte(c) || c == '-' }
