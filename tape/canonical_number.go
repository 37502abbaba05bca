package tape

import (
	"bytes"
	"math"
	"strconv"
)

// exactBelow bounds the floats that six decimals spell in at most 15 digits:
// below it the rounded decimal and the shortest repr are the same digits.
const exactBelow = 1e9

// number reads a number and writes it canonically.
func (c *canon) number() error {
	from := c.pos
	integer, err := c.skipNumber()
	if err != nil {
		return err
	}
	text := c.data[from:c.pos]
	switch {
	case !integer:
		c.out = appendFloat(c.out, text)
	case len(text) == 2 && text[0] == '-' && text[1] == '0':
		c.out = append(c.out, '0')
	default:
		c.out = append(c.out, text...)
	}
	return nil
}

// appendFloat appends the repr of a JSON number rounded to 6 decimals.
func appendFloat(dst, text []byte) []byte {
	if out, ok := appendShortDecimal(dst, text); ok {
		return out
	}
	// The only error is a value out of range, which comes back as an infinity.
	x, _ := strconv.ParseFloat(string(text), 64)
	if math.Signbit(x) {
		dst = append(dst, '-')
		x = -x
	}
	switch {
	case math.IsInf(x, 0):
		return append(dst, "1e999"...)
	case x < exactBelow:
		return appendMillionths(dst, millionths(x))
	case x < 1<<53:
		var buf [32]byte
		x, _ = strconv.ParseFloat(string(strconv.AppendFloat(buf[:0], x, 'f', 6, 64)), 64)
	}
	return appendRepr(dst, x)
}

// appendShortDecimal appends decimals such as 12.50 whose repr is the text
// itself but for trailing zeros: no exponent, at most 6 decimals and 15 digits,
// and not so small that repr uses an exponent.
func appendShortDecimal(dst, text []byte) ([]byte, bool) {
	point := bytes.IndexByte(text, '.')
	if point < 0 || len(text) > 16 || len(text)-point > 7 {
		return dst, false
	}
	if last := text[len(text)-1]; bytes.IndexByte(text, 'e') >= 0 || bytes.IndexByte(text, 'E') >= 0 || last == '.' {
		return dst, false
	}
	decimals := bytes.TrimRight(text[point+1:], "0")
	if len(decimals) > 4 && text[point-1] == '0' && string(decimals[:4]) == "0000" {
		return dst, false
	}
	dst = append(dst, text[:point+1]...)
	if len(decimals) == 0 {
		return append(dst, '0'), true
	}
	return append(dst, decimals...), true
}

// millionths rounds x, 0 <= x < exactBelow, to a whole number of millionths,
// half to even on its exact binary value: a fused multiply-add recovers what
// the product lost.
func millionths(x float64) uint64 {
	product := x * 1e6
	lost := math.FMA(x, 1e6, -product)
	whole := math.Floor(product)
	n := uint64(whole)
	// A fraction that is not one half is further from it than what was lost.
	switch fraction := product - whole; {
	case fraction > 0.5, fraction == 0.5 && (lost > 0 || lost == 0 && n%2 == 1):
		n++
	}
	return n
}

// appendMillionths appends the repr of n/1e6.
func appendMillionths(dst []byte, n uint64) []byte {
	if n > 0 && n < 100 {
		return appendRepr(dst, float64(n)/1e6)
	}
	dst = strconv.AppendUint(dst, n/1e6, 10)
	decimals := [7]byte{'.'}
	rest := uint32(n % 1e6)
	for i := 6; i > 0; i-- {
		decimals[i] = byte('0' + rest%10)
		rest /= 10
	}
	last := 6
	for last > 1 && decimals[last] == '0' {
		last--
	}
	return append(dst, decimals[:last+1]...)
}

// appendRepr appends a finite x >= 0 as Python's repr spells it: the shortest
// digits that read back the same, with an exponent below 1e-4 and from 1e16 on.
func appendRepr(dst []byte, x float64) []byte {
	if x != 0 && (x < 1e-4 || x >= 1e16) {
		return strconv.AppendFloat(dst, x, 'e', -1, 64)
	}
	from := len(dst)
	dst = strconv.AppendFloat(dst, x, 'f', -1, 64)
	if bytes.IndexByte(dst[from:], '.') < 0 {
		dst = append(dst, ".0"...)
	}
	return dst
}
