package otlpfile

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// maxProtoDepth bounds nested messages as maxDepth does in JSON, where one
// message takes about three levels.
const maxProtoDepth = maxDepth / 3

// Wire types of protobuf.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

var errShort = errors.New("the message is cut or not protobuf")

// checkProto tests protobuf bytes against a message before pdata decodes them.
func checkProto(doc []byte, m *message) *fault {
	c := protoChecker{b: doc}
	if err := c.message(m, len(doc)); err != nil {
		return &fault{offset: c.i, member: path(c.steps), err: err}
	}
	return nil
}

type protoChecker struct {
	b     []byte
	i     int
	steps []step
}

// message checks the bytes up to end.
func (c *protoChecker) message(m *message, end int) error {
	if len(c.steps) > maxProtoDepth {
		return fmt.Errorf("nested deeper than %d messages", maxProtoDepth)
	}
	start := c.i
	known := 0
	var counts map[*field]int
	var seen uint
	for c.i < end {
		at := c.i
		tag, err := c.varint(end)
		if err != nil {
			return err
		}
		num, wire := int(tag>>3), int(tag&7)
		if num == 0 || tag>>3 > 1<<29-1 {
			c.i = at
			return fmt.Errorf("field number %d is not one", tag>>3)
		}
		f := m.byNum[num]
		if f == nil {
			if num == deprecatedScopes {
				return errors.New("written before OTLP 0.15, which is read as JSON only")
			}
			if _, err := c.value(wire, end); err != nil {
				return err
			}
			continue
		}
		known++
		if f.kind.wire() != wire {
			c.i = at
			return fmt.Errorf("%s has wire type %d, not %d", f.name, wire, f.kind.wire())
		}
		index := -1
		if f.repeated {
			if counts == nil {
				counts = map[*field]int{}
			}
			index = counts[f]
			counts[f]++
		}
		c.steps = append(c.steps, step{f.name, index})
		nonZero, err := c.field(f, end)
		if err != nil {
			return err
		}
		c.steps = c.steps[:len(c.steps)-1]
		if nonZero {
			seen |= f.need
		}
	}
	if known == 0 && end > start {
		c.i = start
		return fmt.Errorf("none of the fields of %s is in it", m.name)
	}
	if err := m.checkNeeds(seen); err != nil {
		c.i = start
		return err
	}
	return nil
}

// deprecatedScopes is the field that held spans and logs before OTLP 0.15.
const deprecatedScopes = 1000

// field checks one value of a known field.
func (c *protoChecker) field(f *field, end int) (nonZero bool, err error) {
	at := c.i
	body, err := c.value(f.kind.wire(), end)
	if err != nil {
		return false, err
	}
	switch f.kind {
	case kindMessage:
		to := c.i
		c.i = to - len(body)
		return true, c.message(f.message, to)
	case kindTraceID, kindSpanID:
		if len(body) != 0 && len(body) != f.kind.size() {
			c.i = at
			return false, fmt.Errorf("%d bytes, want %d", len(body), f.kind.size())
		}
		return !allZero(body), nil
	}
	return true, nil
}

// value passes over one value and gives its bytes when it is length-delimited.
func (c *protoChecker) value(wire, end int) ([]byte, error) {
	var n int
	switch wire {
	case wireVarint:
		_, err := c.varint(end)
		return nil, err
	case wireFixed64:
		n = 8
	case wireFixed32:
		n = 4
	case wireBytes:
		size, err := c.varint(end)
		if err != nil {
			return nil, err
		}
		if size > uint64(end-c.i) {
			return nil, fmt.Errorf("%d bytes announced, %d left: %w", size, end-c.i, errShort)
		}
		body := c.b[c.i : c.i+int(size)]
		c.i += int(size)
		return body, nil
	default:
		return nil, fmt.Errorf("wire type %d: %w", wire, errShort)
	}
	if end-c.i < n {
		return nil, errShort
	}
	c.i += n
	return nil, nil
}

func (c *protoChecker) varint(end int) (uint64, error) {
	v, n := binary.Uvarint(c.b[c.i:end])
	if n <= 0 {
		return 0, errShort
	}
	c.i += n
	return v, nil
}

// wire is the wire type that a kind is written with.
func (k kind) wire() int {
	switch k {
	case kindUint32, kindInt32, kindInt64, kindBool, kindEnum:
		return wireVarint
	case kindFixed64, kindDouble:
		return wireFixed64
	case kindFixed32:
		return wireFixed32
	}
	return wireBytes
}
