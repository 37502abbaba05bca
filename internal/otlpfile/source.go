package otlpfile

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
	utf8BOM   = []byte{0xef, 0xbb, 0xbf}
)

// maxWindow is the largest zstd window accepted, as in the zstd command.
const maxWindow = 128 << 20

// decompress undoes gzip or zstd around an input. Done frees the decoder.
func decompress(src io.Reader) (r *bufio.Reader, done func(), err error) {
	br := bufio.NewReaderSize(src, 64<<10)
	head, err := br.Peek(len(zstdMagic))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	switch {
	case bytes.HasPrefix(head, gzipMagic):
		zr, err := gzip.NewReader(br)
		if err != nil {
			return nil, nil, fmt.Errorf("gzip: %w", err)
		}
		return bufio.NewReaderSize(named{zr, "gzip"}, 64<<10), func() { _ = zr.Close() }, nil
	case bytes.HasPrefix(head, zstdMagic):
		zr, err := zstd.NewReader(br, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, nil, fmt.Errorf("zstd: %w", err)
		}
		return bufio.NewReaderSize(named{zr, "zstd"}, 64<<10), zr.Close, nil
	}
	return br, func() {}, nil
}

// named says which decoder an error came from.
type named struct {
	r    io.Reader
	name string
}

func (n named) Read(p []byte) (int, error) {
	c, err := n.r.Read(p)
	switch {
	case err == nil || errors.Is(err, io.EOF):
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = fmt.Errorf("%s: the compressed data is cut: %w", n.name, ErrCut)
	default:
		err = fmt.Errorf("%s: %w", n.name, err)
	}
	return c, err
}

// newFramer looks at the first bytes to choose how the input is cut.
//
// A protobuf message of traces or logs begins with 0x0a, which is also a
// newline. It is told from JSON with a blank first line by the control bytes
// that every such message has early on and that JSON cannot have at all.
func newFramer(br *bufio.Reader, limit, part int) (framer, error) {
	head, err := br.Peek(512)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	text := bytes.TrimLeft(bytes.TrimPrefix(head, utf8BOM), " \t\r\n")
	switch {
	case len(head) == 0:
		return nil, ErrEmpty
	case len(text) == 0, !isControl(head) && (text[0] == '{' || text[0] == '['):
		return newJSONFramer(br, limit, part), nil
	case head[0] == '\n':
		return &protoMessage{r: br, limit: limit}, nil
	case text[0] == '{' || text[0] == '[':
		return newJSONFramer(br, limit, part), nil
	case len(head) >= 4 && (head[0] == 0 || frameSize(head) <= limit):
		return &protoFrames{r: br, limit: limit}, nil
	}
	return nil, fmt.Errorf("%w: neither a JSON object or array nor OTLP protobuf: it starts with %q", ErrFormat, clip(string(head[:min(len(head), 16)])))
}

// isControl reports a byte that JSON text cannot hold.
func isControl(b []byte) bool {
	return bytes.ContainsFunc(b, func(r rune) bool { return r < 0x20 && r != '\t' && r != '\n' && r != '\r' })
}
