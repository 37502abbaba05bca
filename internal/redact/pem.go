package redact

import "strings"

const (
	typePrivateKey = "private_key"
	pemBegin       = "-----BEGIN"
	pemEnd         = "-----END"
	pemKey         = "PRIVATE KEY"
	// maxLabel bounds what stands between the dashes of a PEM line.
	maxLabel = 64
	// maxPEM bounds the distance from the first to the last line of a key.
	maxPEM = 64 << 10
	// minPEM is the least base64 that makes a key of one whose end is missing.
	minPEM = 32
)

// privateKeys appends the private keys in s: from the first line to the last,
// whatever is between, or as far as base64 goes where the last was cut off.
func privateKeys(s string, out []span) []span {
	end := 0 // of the last end line looked for
	for i := 0; ; {
		j := strings.Index(s[i:], pemBegin)
		if j < 0 {
			return out
		}
		start := i + j
		i = start + len(pemBegin)
		head := pemLine(s, i)
		if head == 0 {
			continue
		}
		if end < head && end >= 0 {
			if n := strings.Index(s[head:], pemEnd); n >= 0 {
				end = head + n
			} else {
				end = -1
			}
		}
		if end >= head && end-head <= maxPEM {
			if last := pemLine(s, end+len(pemEnd)); last > 0 {
				out = append(out, span{start: start, end: last, typ: typePrivateKey})
				i = last
				continue
			}
		}
		b := head
		for b < len(s) && b-head < maxPEM && (isAlnum(s[b]) || strings.IndexByte("+/=\\ \t\r\n", s[b]) >= 0) {
			b++
		}
		if b-head >= minPEM {
			out = append(out, span{start: start, end: b, typ: typePrivateKey})
		}
		i = b
	}
}

// pemLine is the end of the PEM line whose label begins at s[i], 0 if it is not
// that of a private key.
func pemLine(s string, i int) int {
	rest := s[i:min(len(s), i+maxLabel)]
	k := strings.Index(rest, pemKey)
	if k < 0 {
		return 0
	}
	for _, c := range []byte(rest[:k]) {
		if c != ' ' && c != '-' && !isAlnum(c) {
			return 0
		}
	}
	dashes := strings.Index(rest[k:], "-----")
	if dashes < 0 {
		return 0
	}
	return i + k + dashes + len("-----")
}
