package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// codec compresses and decompresses whole objects. One encoder and one decoder
// serve all goroutines: both keep a pool inside and block when it is empty.
type codec struct {
	enc *zstd.Encoder
	dec *zstd.Decoder
	// max bounds an object's plain length, so that a few hostile bytes cannot
	// unfold into more memory than that.
	max int64
}

func newCodec(maxPlain int64) (*codec, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderCRC(true), zstd.WithZeroFrames(true), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, fmt.Errorf("zstd encoder: %w", err)
	}
	dec, err := zstd.NewReader(nil,
		zstd.WithDecoderConcurrency(0),
		zstd.WithDecoderMaxMemory(uint64(maxPlain)),
		zstd.WithDecodeAllCapLimit(false))
	if err != nil {
		return nil, fmt.Errorf("zstd decoder: %w", err)
	}
	return &codec{enc: enc, dec: dec, max: maxPlain}, nil
}

func (c *codec) encode(plain []byte) ([]byte, error) {
	if int64(len(plain)) > c.max {
		return nil, fmt.Errorf("%d bytes where at most %d are stored: %w", len(plain), c.max, ErrTooLarge)
	}
	// A quarter is enough for text; more is allocated when it is not.
	return c.enc.EncodeAll(plain, make([]byte, 0, len(plain)/4+64)), nil
}

// packedPool holds memory for compressed objects between their uses, each at most
// keepPacked bytes.
var packedPool = sync.Pool{New: func() any { return new(bytes.Buffer) }}

const keepPacked = 1 << 20

// decode reads r to its end and returns the plain bytes, in the memory of buf if
// that is enough.
func (c *codec) decode(r io.Reader, buf []byte) ([]byte, error) {
	// Compressed content is never much longer than plain content.
	limit := c.max + c.max/128 + 4096
	packed := packedPool.Get().(*bytes.Buffer)
	defer func() {
		if packed.Cap() <= keepPacked {
			packed.Reset()
			packedPool.Put(packed)
		}
	}()
	if _, err := packed.ReadFrom(io.LimitReader(r, limit+1)); err != nil {
		return nil, err
	}
	if int64(packed.Len()) > limit {
		return nil, fmt.Errorf("more than %d bytes: %w", limit, ErrTooLarge)
	}
	plain, err := c.dec.DecodeAll(packed.Bytes(), buf)
	switch {
	case errors.Is(err, zstd.ErrDecoderSizeExceeded), errors.Is(err, zstd.ErrWindowSizeExceeded):
		return nil, fmt.Errorf("unfolds to more than %d bytes: %w", c.max, ErrTooLarge)
	case err != nil:
		return nil, fmt.Errorf("%w: zstd: %w", ErrDamaged, err)
	}
	return plain, nil
}

func (c *codec) close() {
	c.dec.Close()
}
