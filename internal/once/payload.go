package once

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrPayload marks bytes that are no payload, or not a whole one.
var ErrPayload = errors.New("not a payload")

// Head of a payload.
const (
	holdsMask    = 0x03
	holdsSpans   = 0x01
	holdsRecords = 0x02
	hasTexts     = 0x04
	version      = 0x10
	versionMask  = 0xf8

	maxHead = 1 + 8 + 2*binary.MaxVarintLen64
)

// payload is one taken apart.
type payload struct {
	head byte
	// table and first number the texts.
	table uint64
	first uint64
	texts []byte
	body  []byte
}

func parse(b []byte) (payload, error) {
	if len(b) == 0 || b[0]&versionMask != version || b[0]&holdsMask == holdsMask {
		return payload{}, fmt.Errorf("%w: its head is unknown", ErrPayload)
	}
	p := payload{head: b[0], body: b[1:]}
	if p.head&hasTexts == 0 {
		return p, nil
	}
	cut := fmt.Errorf("%w: it ends in its head", ErrPayload)
	rest := p.body
	if len(rest) < 8 {
		return payload{}, cut
	}
	p.table, rest = binary.LittleEndian.Uint64(rest), rest[8:]
	for _, number := range []*uint64{&p.first, nil} {
		n, size := binary.Uvarint(rest)
		if size <= 0 {
			return payload{}, cut
		}
		rest = rest[size:]
		if number != nil {
			*number = n
			continue
		}
		if n > uint64(len(rest)) {
			return payload{}, fmt.Errorf("%w: it ends in its texts", ErrPayload)
		}
		p.texts, p.body = rest[:n], rest[n:]
	}
	return p, nil
}

// IsLogs reports whether a payload holds log records.
func IsLogs(payload []byte) bool { return len(payload) > 0 && payload[0]&holdsMask == holdsRecords }
