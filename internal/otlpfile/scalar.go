package otlpfile

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// want names the JSON a kind is written in.
func (k kind) want() string {
	switch k {
	case kindString:
		return "a string"
	case kindBytes:
		return "base64 in a string"
	case kindTraceID, kindSpanID:
		return "an id in a string"
	case kindBool:
		return "true or false"
	case kindDouble:
		return "a number"
	case kindEnum:
		return "a number or a name"
	}
	return "an integer"
}

// check tests one JSON scalar. Out is the text to put in its place, "" to leave
// it; given is false for a value that says nothing, such as an id of zeros.
func (f *field) check(token []byte) (out string, given bool, err error) {
	isString, isBool := token[0] == '"', token[0] == 't' || token[0] == 'f'
	wrong := func() error { return fmt.Errorf("want %s, found %s", f.kind.want(), describe(token[0])) }
	switch f.kind {
	case kindString:
		if !isString {
			return "", false, wrong()
		}
		return "", true, nil
	case kindBool:
		if !isBool {
			return "", false, wrong()
		}
		return "", true, nil
	case kindBytes, kindTraceID, kindSpanID:
		if !isString {
			return "", false, wrong()
		}
		if f.kind == kindBytes {
			return bytesText(text(token))
		}
		return idText(text(token), f.kind.size())
	case kindDouble:
		if isBool {
			return "", false, wrong()
		}
		return doubleText(token)
	case kindEnum:
		if isString {
			if v, ok := f.enum[strings.ToUpper(text(token))]; ok {
				return strconv.Itoa(v), true, nil
			}
		}
		fallthrough
	default:
		if isBool {
			return "", false, wrong()
		}
		return intText(token, f.kind)
	}
}

// size is the length of an id in bytes.
func (k kind) size() int {
	if k == kindTraceID {
		return 16
	}
	return 8
}

// idText reads an id of size bytes written as hex in either case or as base64,
// whose lengths never overlap. Base64 is not OTLP, but is what generic protobuf
// encoders write.
func idText(s string, size int) (out string, given bool, err error) {
	if s == "" {
		return "", false, nil
	}
	if len(s) == 2*size {
		id, err := hex.DecodeString(s)
		if err != nil {
			return "", false, fmt.Errorf("%q is not hex", s)
		}
		return "", !allZero(id), nil
	}
	id, err := decodeBase64(s)
	if err != nil || len(id) != size {
		return "", false, fmt.Errorf("%q is neither %d hex digits nor base64 of %d bytes", clip(s), 2*size, size)
	}
	return strconv.Quote(hex.EncodeToString(id)), !allZero(id), nil
}

func allZero(id []byte) bool {
	for _, b := range id {
		if b != 0 {
			return false
		}
	}
	return true
}

// bytesText accepts both alphabets of base64, padded or not, as protobuf's JSON
// mapping asks, and writes the one that pdata reads.
func bytesText(s string) (out string, given bool, err error) {
	b, err := decodeBase64(s)
	if err != nil {
		return "", false, fmt.Errorf("%q is not base64", clip(s))
	}
	if std := base64.StdEncoding.EncodeToString(b); std != s {
		return strconv.Quote(std), true, nil
	}
	return "", true, nil
}

func decodeBase64(s string) ([]byte, error) {
	s = strings.TrimRight(s, "=")
	if strings.ContainsAny(s, "\r\n") {
		return nil, errors.New("line breaks in base64")
	}
	if strings.ContainsAny(s, "-_") {
		return base64.RawURLEncoding.DecodeString(s)
	}
	return base64.RawStdEncoding.DecodeString(s)
}

// doubleText checks a number, or the strings that stand for one.
func doubleText(token []byte) (out string, given bool, err error) {
	s := string(token)
	if token[0] == '"' {
		s = text(token)
	}
	v, err := strconv.ParseFloat(s, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return "", false, fmt.Errorf("%s is out of range", clip(s))
	case err != nil:
		return "", false, fmt.Errorf("%q is not a number", clip(s))
	}
	if token[0] == '"' {
		// pdata reads these from a string alone, and no other spelling safely.
		return strconv.Quote(strconv.FormatFloat(v, 'g', -1, 64)), true, nil
	}
	return "", true, nil
}

// intText checks an integer written as a number or in a string. A whole number
// with a fraction or an exponent, as some languages print large ones, is
// rewritten.
func intText(token []byte, k kind) (out string, given bool, err error) {
	s := string(token)
	if token[0] == '"' {
		s = text(token)
	}
	low, high, bits := int64(0), ^uint64(0), 64
	switch k {
	case kindInt64:
		low, high = -1<<63, 1<<63-1
	case kindUint32, kindFixed32:
		high, bits = 1<<32-1, 32
	case kindInt32, kindEnum:
		low, high, bits = -1<<31, 1<<31-1, 32
	}
	if isDecimal(s) {
		if low < 0 {
			_, err = strconv.ParseInt(s, 10, bits)
		} else {
			_, err = strconv.ParseUint(s, 10, bits)
		}
		if err == nil {
			return "", true, nil
		}
	}
	// An exponent of thousands would cost memory out of proportion.
	if len(s) > 64 || strings.Trim(s, "0123456789+-.eE") != "" {
		return "", false, fmt.Errorf("%q is not an integer", clip(s))
	}
	f, ok := new(big.Float).SetPrec(256).SetString(s)
	if !ok {
		return "", false, fmt.Errorf("%q is not an integer", clip(s))
	}
	if f.Cmp(new(big.Float).SetInt64(low)) < 0 || f.Cmp(new(big.Float).SetUint64(high)) > 0 {
		return "", false, fmt.Errorf("%s is out of range", clip(s))
	}
	if !f.IsInt() {
		return "", false, fmt.Errorf("%s is not an integer", clip(s))
	}
	i, _ := f.Int(nil)
	return i.String(), true, nil
}

// isDecimal reports plain digits with an optional minus, without the leading
// zeros that JSON numbers cannot have.
func isDecimal(s string) bool {
	s = strings.TrimPrefix(s, "-")
	return s != "" && strings.Trim(s, "0123456789") == "" && (s[0] != '0' || s == "0")
}
