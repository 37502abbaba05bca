package s3

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/minio/minio-go/v7"
)

// reader reads an object and, when its body breaks off, goes on from there.
type reader struct {
	ctx context.Context
	b   *Backend
	key string

	body io.ReadCloser
	etag string
	// at is how far it was read, size how long it is.
	at, size int64
	// failed counts faults since the last byte.
	failed int
}

func (r *reader) open(ctx context.Context) error {
	opts := minio.GetObjectOptions{ServerSideEncryption: r.b.readKey()}
	if r.at > 0 {
		if err := opts.SetRange(r.at, 0); err != nil {
			return err
		}
		if err := opts.SetMatchETag(r.etag); err != nil {
			return err
		}
	}
	core := minio.Core{Client: r.b.client}
	body, info, _, err := core.GetObject(ctx, r.b.cfg.Bucket, r.key, opts)
	if err != nil {
		return err
	}
	if r.at == 0 {
		r.etag, r.size = info.ETag, info.Size
	}
	r.body = body
	return nil
}

func (r *reader) Read(p []byte) (int, error) {
	for {
		n, err := r.body.Read(p)
		r.at += int64(n)
		if n > 0 {
			r.failed = 0
			if err == nil || r.at < r.size {
				return n, nil
			}
			return n, err
		}
		if err == nil || errors.Is(err, io.EOF) && r.at >= r.size {
			return 0, err
		}
		if err := r.resume(err); err != nil {
			return 0, err
		}
	}
}

func (r *reader) resume(cause error) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	if errors.Is(cause, io.EOF) {
		cause = io.ErrUnexpectedEOF
	}
	if r.failed++; r.failed >= r.b.cfg.MaxAttempts {
		return fmt.Errorf("%s breaks off after %d of %d bytes: %w", r.key, r.at, r.size, cause)
	}
	_ = r.body.Close()
	if err := r.b.retry(r.ctx, r.open); err != nil {
		r.body = failedBody{err}
		return err
	}
	return nil
}

func (r *reader) Close() error { return r.body.Close() }

// failedBody stands for a body that could not be opened again.
type failedBody struct{ err error }

func (f failedBody) Read([]byte) (int, error) { return 0, f.err }
func (failedBody) Close() error               { return nil }

// GetRange implements store.Reader.
func (b *Backend) GetRange(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	key, err := b.key(ctx, name)
	if err != nil {
		return nil, err
	}
	opts := minio.GetObjectOptions{ServerSideEncryption: b.readKey()}
	if err := opts.SetRange(offset, offset+length-1); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var data []byte
	err = b.retry(ctx, func(ctx context.Context) error {
		core := minio.Core{Client: b.client}
		body, _, header, err := core.GetObject(ctx, b.cfg.Bucket, key, opts)
		if err != nil {
			return err
		}
		if header.Get("Content-Range") == "" {
			// A bucket that does not know ranges answers with the whole.
			_, err = io.CopyN(io.Discard, body, offset)
		}
		if err == nil {
			data, err = io.ReadAll(io.LimitReader(body, length))
		}
		return errors.Join(err, body.Close())
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return data, nil
}
