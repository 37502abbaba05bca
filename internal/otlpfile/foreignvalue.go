package otlpfile

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

func readTraceID(raw json.RawMessage) (id pcommon.TraceID, err error) {
	err = readID(raw, id[:])
	return id, err
}

func readSpanID(raw json.RawMessage) (id pcommon.SpanID, err error) {
	err = readID(raw, id[:])
	return id, err
}

// readID reads an id as programs print it: hex with or without 0x, leading
// zeros left out or not, base64, or a decimal number. Digits alone are hex, but
// for a text longer than the hex would be. No id at all leaves it zero.
func readID(raw json.RawMessage, id []byte) error {
	if !given(raw) {
		return nil
	}
	s, wholeNumber := string(raw), raw[0] != '"'
	if !wholeNumber {
		s = strings.TrimSpace(text(raw))
	}
	if s == "" {
		return nil
	}
	if len(s) > 4*len(id) {
		// Digits without end would cost time without end.
		return fmt.Errorf("%q is too long for an id of %d bytes", clip(s), len(id))
	}
	digits, prefixed := strings.CutPrefix(strings.ToLower(s), "0x")
	switch {
	case wholeNumber, !prefixed && len(s) > 2*len(id) && isDecimal(s):
		n, ok := new(big.Int).SetString(s, 10)
		if !ok || n.Sign() < 0 || n.BitLen() > 8*len(id) {
			return fmt.Errorf("%q is no number of %d bytes", clip(s), len(id))
		}
		n.FillBytes(id)
		return nil
	case len(digits) <= 2*len(id):
		full := strings.Repeat("0", 2*len(id)-len(digits)) + digits
		if b, err := hex.DecodeString(full); err == nil {
			copy(id, b)
			return nil
		}
	}
	if b, err := decodeBase64(s); err == nil && len(b) == len(id) {
		copy(id, b)
		return nil
	}
	return fmt.Errorf("%q is neither %d hex digits nor base64 or a decimal number of %d bytes", clip(s), 2*len(id), len(id))
}

// namedID makes an id of one that is any text, as in backends that let their
// users choose: hex and UUIDs of the right length stay what they are, others
// are the first bytes of their SHA-256. It reports whether it is another.
func namedID(s string, id []byte) (other bool) {
	hexDigits := strings.ReplaceAll(s, "-", "")
	if len(hexDigits) == 2*len(id) {
		if b, err := hex.DecodeString(hexDigits); err == nil && !allZero(b) {
			copy(id, b)
			return hexDigits != s
		}
	}
	sum := sha256.Sum256([]byte(s))
	copy(id, sum[:])
	return true
}

// timeLayouts are the ways in which programs print times. Without a zone they
// are UTC.
var timeLayouts = []string{
	time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02T15:04:05.999999999Z0700",
	"2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", "2006-01-02 15:04:05.999999999 Z0700 MST",
}

// readTime reads a time: a text, a number of seconds, milliseconds,
// microseconds or nanoseconds since 1970, told apart by size, or a pair of
// seconds and nanoseconds. None is 0.
func readTime(raw json.RawMessage) (pcommon.Timestamp, error) {
	if !given(raw) {
		return 0, nil
	}
	switch raw[0] {
	case '[':
		var pair []json.Number
		if err := read(raw, &pair); err != nil || len(pair) != 2 {
			return 0, fmt.Errorf("want seconds and nanoseconds, found %s", clip(string(raw)))
		}
		return nanoseconds(string(pair[0]), 1e9, string(pair[1]))
	case '"':
		s := strings.TrimSpace(text(raw))
		if s == "" {
			return 0, nil
		}
		for _, layout := range timeLayouts {
			t, err := time.Parse(layout, s)
			switch {
			case err != nil:
			case t.IsZero():
				return 0, nil
			case t.Unix() >= 0 && t.Year() < 2262:
				return pcommon.NewTimestampFromTime(t), nil
			}
		}
		return sinceEpoch(s)
	case '{', 't', 'f':
		return 0, fmt.Errorf("want a time, found %s", describe(raw[0]))
	}
	return sinceEpoch(string(raw))
}

// sinceEpoch tells the unit of a time by its size: all units of a day after
// 1973 and before 5138 differ.
func sinceEpoch(s string) (pcommon.Timestamp, error) {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(x) || x < 0 {
		return 0, fmt.Errorf("%q is not a time", clip(s))
	}
	unit := int64(1)
	switch {
	case x < 1e11:
		unit = 1e9
	case x < 1e14:
		unit = 1e6
	case x < 1e17:
		unit = 1e3
	}
	return nanoseconds(s, unit, "0")
}

// nanoseconds is number × unit + more, exactly.
func nanoseconds(number string, unit int64, more string) (pcommon.Timestamp, error) {
	// An exponent of thousands would cost memory out of proportion.
	if len(number)+len(more) > 64 || strings.ContainsAny(number+more, "/xXpPiIn_") || math.IsInf(parsed(number), 0) || math.IsInf(parsed(more), 0) {
		return 0, fmt.Errorf("%q is not a time", clip(number))
	}
	n, ok := new(big.Rat).SetString(number)
	m, ok2 := new(big.Rat).SetString(more)
	if !ok || !ok2 {
		return 0, fmt.Errorf("%q is not a time", clip(number))
	}
	n.Add(n.Mul(n, new(big.Rat).SetInt64(unit)), m)
	whole := new(big.Int).Quo(n.Num(), n.Denom())
	if !whole.IsUint64() {
		return 0, fmt.Errorf("%q is out of range", clip(number))
	}
	return pcommon.Timestamp(whole.Uint64()), nil
}

// parsed is the size of a number, infinite for what is none that a time could
// be.
func parsed(s string) float64 {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || math.Abs(x) > 1e30 || x != 0 && math.Abs(x) < 1e-30 {
		return math.Inf(1)
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 && len(s)-i > 5 {
		return math.Inf(1)
	}
	return x
}

// maxValueDepth bounds how deep the value of an attribute nests. What lies
// deeper is kept as JSON text.
const maxValueDepth = 32

// putValue converts valid JSON: numbers without fraction or exponent that fit
// are integers.
func putValue(to pcommon.Value, raw json.RawMessage, depth int) {
	c := cursor{b: raw}
	switch first := c.peek(); {
	case first == '"':
		to.SetStr(text(c.scalar()))
	case first == 't', first == 'f':
		to.SetBool(first == 't')
	case first == 'n':
	case (first == '{' || first == '[') && depth >= maxValueDepth:
		to.SetStr(string(raw))
	case first == '[':
		list := to.SetEmptySlice()
		for range c.array() {
			putValue(list.AppendEmpty(), c.raw(), depth+1)
		}
	case first == '{':
		m := to.SetEmptyMap()
		for name := range c.object() {
			v := m.PutEmpty(string(name))
			putValue(v, c.raw(), depth+1)
		}
	default:
		putNumber(to, string(c.scalar()))
	}
}

func putNumber(to pcommon.Value, s string) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		to.SetInt(n)
		return
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		// Too large for either: its digits are worth more than an infinity.
		to.SetStr(s)
		return
	}
	to.SetDouble(x)
}

// putAttributes converts an object of attributes; null values are none.
func putAttributes(to pcommon.Map, raw json.RawMessage) error {
	if !given(raw) {
		return nil
	}
	if raw[0] != '{' {
		return fmt.Errorf("want an object, found %s", describe(raw[0]))
	}
	c := cursor{b: raw}
	for name := range c.object() {
		key := string(name)
		if v := c.raw(); given(v) {
			putValue(to.PutEmpty(key), v, 0)
		}
	}
	return nil
}

// putJSON sets a text attribute to a member: a string as it is, anything else
// as JSON. Null sets nothing.
func putJSON(to pcommon.Map, key string, raw json.RawMessage) {
	switch {
	case !given(raw):
	case raw[0] == '"':
		to.PutStr(key, text(raw))
	default:
		to.PutStr(key, string(raw))
	}
}

// putText sets an attribute that is not empty.
func putText(to pcommon.Map, key, value string) {
	if value != "" {
		to.PutStr(key, value)
	}
}
