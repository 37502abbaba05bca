package rules

import (
	"math"
	"strconv"
	"time"
)

// isUUID reports whether a text is a UUID: 8-4-4-4-12 hexadecimal digits.
func isUUID(text string) bool {
	const length = 36
	if len(text) != length {
		return false
	}
	for i := range length {
		switch b := text[i]; {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if b != '-' {
				return false
			}
		case b >= '0' && b <= '9', b >= 'a' && b <= 'f', b >= 'A' && b <= 'F':
		default:
			return false
		}
	}
	return true
}

var layouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00",
	"2006-01-02 15:04:05.999999999", time.DateOnly, time.RFC1123, time.RFC1123Z,
}

// readTime reads a time in nanoseconds since 1970; a time without zone is in
// UTC. raw is a JSON value, text what it stands for if it is a string.
func readTime(raw []byte, text string) (nanos int64, ok bool) {
	if raw[0] == '"' {
		for _, layout := range layouts {
			if t, err := time.Parse(layout, text); err == nil {
				return t.UnixNano(), true
			}
		}
		return 0, false
	}
	num, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || num < 0 {
		return 0, false
	}
	// A number counts what makes it a time between 1973 and 5138.
	for _, unit := range []struct{ below, nanos float64 }{{1e11, 1e9}, {1e14, 1e6}, {1e17, 1e3}, {9e18, 1}} {
		if num < unit.below {
			return int64(num * unit.nanos), num >= 1e8 || num == 0
		}
	}
	return 0, false
}

// near reports whether two numbers are within a tolerance.
func near(a, b, abs, rel float64) bool {
	// What was cut to six decimals may differ by that much of itself.
	const slack = 1e-12
	return math.Abs(a-b) <= math.Max(abs, rel*math.Max(math.Abs(a), math.Abs(b)))*(1+slack)
}

func apart(a, b int64) uint64 {
	if a > b {
		a, b = b, a
	}
	// The difference of two int64 always fits.
	return uint64(b) - uint64(a)
}
