package otlpfile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// protoMessage is an input that is one protobuf message.
type protoMessage struct {
	r     *bufio.Reader
	limit int
	read  bool
}

func (p *protoMessage) next() ([]byte, int, error) {
	if p.read {
		return nil, 0, io.EOF
	}
	p.read = true
	doc, err := readAll(p.r, p.limit)
	return doc, 0, err
}

func (p *protoMessage) decode(doc []byte) (*Document, error) { return decodeProto(doc) }

// protoFrames is what the collector's file exporter writes for protobuf, and
// for either format when it compresses: a size of four bytes, big-endian, and
// so many bytes of one message, which may be compressed each.
type protoFrames struct {
	r     *bufio.Reader
	limit int
	doc   []byte
}

func (p *protoFrames) next() ([]byte, int, error) {
	head, err := p.r.Peek(4)
	if errors.Is(err, io.EOF) {
		if len(head) == 0 {
			return nil, 0, io.EOF
		}
		return nil, 0, fmt.Errorf("%w: inside its size", ErrCut)
	}
	if err != nil {
		return nil, 0, err
	}
	size := frameSize(head)
	switch {
	case size == 0:
		return nil, 0, fmt.Errorf("%w: a message of no bytes", ErrFormat)
	case size > p.limit:
		return nil, 0, tooLarge(p.limit)
	}
	_, _ = p.r.Discard(4)
	// Reading through a limit, not into a buffer of the size that the file
	// claims, keeps memory in step with what is really there.
	p.doc, err = appendAll(p.doc[:0], io.LimitReader(p.r, int64(size)))
	if err == nil && len(p.doc) < size {
		err = fmt.Errorf("%w: %d of %d bytes", ErrCut, len(p.doc), size)
	}
	return p.doc, 0, err
}

func (p *protoFrames) decode(doc []byte) (*Document, error) {
	if bytes.HasPrefix(doc, gzipMagic) || bytes.HasPrefix(doc, zstdMagic) {
		src, done, err := decompress(bytes.NewReader(doc))
		if err != nil {
			return nil, err
		}
		defer done()
		if doc, err = readAll(src, p.limit); err != nil {
			return nil, err
		}
	}
	if len(doc) > 0 && doc[0] == '{' {
		return decodeJSON(doc)
	}
	return decodeProto(doc)
}

// frameSize reads the size in front of a message.
func frameSize(head []byte) int { return int(binary.BigEndian.Uint32(head)) }

// readAll reads the rest of r, at most limit bytes.
func readAll(r io.Reader, limit int) ([]byte, error) {
	doc, err := appendAll(nil, io.LimitReader(r, int64(limit)+1))
	if err == nil && len(doc) > limit {
		return nil, tooLarge(limit)
	}
	return doc, err
}

func appendAll(dst []byte, r io.Reader) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	_, err := b.ReadFrom(r)
	return b.Bytes(), err
}
