package s3

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"iter"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/encrypt"

	"github.com/tapedeck/tapedeck/internal/store"
)

// Backend stores objects in a bucket.
type Backend struct {
	cfg    Config
	client *minio.Client
	// transport carries what the client has no method for.
	transport http.RoundTripper
	prefix    string
	// unconditional: the bucket does not know conditional writes.
	unconditional atomic.Bool
}

var _ store.Backend = (*Backend)(nil)

// Open makes a backend. It sends nothing: a bucket that is out of reach must not
// keep a collector from starting.
func Open(cfg Config) (*Backend, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	host, secure, err := cfg.host()
	if err != nil {
		return nil, err
	}
	cfg.Timeout = or(cfg.Timeout, DefaultTimeout)
	cfg.MaxAttempts = or(cfg.MaxAttempts, DefaultMaxAttempts)
	cfg.PartSize = or(cfg.PartSize, DefaultPartSize)
	lookup := minio.BucketLookupAuto
	if cfg.PathStyle {
		lookup = minio.BucketLookupPath
	}
	transport := cfg.Transport
	if transport == nil {
		transport = http.DefaultTransport
	}
	transport = &observed{next: transport, timeout: cfg.Timeout, observe: cfg.Observe}
	client, err := minio.New(host, &minio.Options{
		Creds:        cfg.Credentials,
		Secure:       secure,
		Region:       or(cfg.Region, defaultRegion),
		BucketLookup: lookup,
		Transport:    transport,
		// One layer tries again, and it is ours: see retry.
		MaxRetries: 1,
	})
	if err != nil {
		return nil, fmt.Errorf("s3 endpoint %s: %w", host, err)
	}
	b := &Backend{cfg: cfg, client: client, transport: transport}
	if cfg.Prefix != "" {
		b.prefix = cfg.Prefix + "/"
	}
	return b, nil
}

// String names the place, for messages.
func (b *Backend) String() string {
	return "s3://" + path.Join(b.cfg.Bucket, b.cfg.Prefix)
}

func (b *Backend) key(ctx context.Context, name string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if err := store.CheckName(name); err != nil {
		return "", err
	}
	return b.prefix + name, nil
}

// folder is the key prefix of a folder.
func (b *Backend) folder(ctx context.Context, folder string) (string, error) {
	key, err := b.key(ctx, strings.TrimSuffix(folder, "/"))
	return key + "/", err
}

// Put implements store.Writer.
func (b *Backend) Put(ctx context.Context, name string, data []byte) error {
	key, err := b.key(ctx, name)
	if err != nil {
		return err
	}
	if len(data) > b.cfg.PartSize {
		// The condition of an upload in parts is judged when all of them are there.
		if there, err := b.same(ctx, key, len(data)); there || err != nil {
			return err
		}
	}
	conditional := !b.unconditional.Load()
	return b.retry(ctx, func(ctx context.Context) error {
		err := b.put(ctx, key, data, conditional)
		switch code := codeOf(err); {
		case code == notImplemented && conditional:
			b.unconditional.Store(true)
			conditional = false
			return b.put(ctx, key, data, false)
		case code == preconditionFailed:
			there, err := b.same(ctx, key, len(data))
			if there || err != nil {
				return err
			}
			// A length that differs is another compressor's, or was deleted
			// meanwhile: either way ours is as good.
			conditional = false
			return b.put(ctx, key, data, false)
		default:
			return err
		}
	})
}

func (b *Backend) put(ctx context.Context, key string, data []byte, conditional bool) error {
	opts := minio.PutObjectOptions{
		ContentType:          contentType(key),
		ServerSideEncryption: b.cfg.Encryption,
		StorageClass:         b.cfg.StorageClass,
		PartSize:             uint64(b.cfg.PartSize),
		SendContentMd5:       true,
		NumThreads:           2,
	}
	if conditional {
		opts.SetMatchETagExcept("*")
	}
	if len(data) <= b.cfg.PartSize {
		// The signature has the hash of the body. The library would sign a plain
		// connection chunk by chunk, and of an empty body some servers leave the
		// signature unread, where it spoils the next request.
		opts.DisableContentSha256 = true
		sum := sha256.Sum256(data)
		core := minio.Core{Client: b.client}
		_, err := core.PutObject(ctx, b.cfg.Bucket, key, bytes.NewReader(data), int64(len(data)), "", hex.EncodeToString(sum[:]), opts)
		return err
	}
	_, err := b.client.PutObject(ctx, b.cfg.Bucket, key, bytes.NewReader(data), int64(len(data)), opts)
	return err
}

func contentType(key string) string {
	switch path.Ext(key) {
	case ".zst":
		return "application/zstd"
	case ".parquet":
		return "application/vnd.apache.parquet"
	default:
		return "application/octet-stream"
	}
}

// readKey is what reading needs too: the key that only the customer has.
func (b *Backend) readKey() encrypt.ServerSide {
	if sse := b.cfg.Encryption; sse != nil && sse.Type() == encrypt.SSEC {
		return sse
	}
	return nil
}

// same reports whether an object of that length is there.
func (b *Backend) same(ctx context.Context, key string, size int) (bool, error) {
	var there bool
	err := b.retry(ctx, func(ctx context.Context) error {
		info, err := b.client.StatObject(ctx, b.cfg.Bucket, key, minio.StatObjectOptions{ServerSideEncryption: b.readKey()})
		there = err == nil && info.Size == int64(size)
		if isNotFound(err) {
			return nil
		}
		return err
	})
	return there, err
}

// Get implements store.Reader. A body that breaks off is read on from there.
func (b *Backend) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	key, err := b.key(ctx, name)
	if err != nil {
		return nil, err
	}
	r := &reader{ctx: ctx, b: b, key: key}
	if err := b.retry(ctx, r.open); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

// Delete implements store.Writer.
func (b *Backend) Delete(ctx context.Context, name string) error {
	key, err := b.key(ctx, name)
	if err != nil {
		return err
	}
	return b.retry(ctx, func(ctx context.Context) error {
		err := b.client.RemoveObject(ctx, b.cfg.Bucket, key, minio.RemoveObjectOptions{})
		if isNotFound(err) {
			return nil
		}
		return err
	})
}

// List implements store.Reader, one request for a thousand objects.
func (b *Backend) List(ctx context.Context, folder string) iter.Seq2[store.Object, error] {
	return func(yield func(store.Object, error) bool) {
		key, err := b.folder(ctx, folder)
		if err != nil {
			yield(store.Object{}, err)
			return
		}
		for info, err := range b.keys(ctx, key, true) {
			name := strings.TrimPrefix(info.Key, b.prefix)
			// Others' objects, and the markers of folders that some tools make.
			if err == nil && store.CheckName(name) != nil {
				continue
			}
			if !yield(store.Object{Name: name, Size: info.Size, Modified: info.LastModified}, err) || err != nil {
				return
			}
		}
	}
}

// Folders implements store.Reader.
func (b *Backend) Folders(ctx context.Context, folder string) ([]string, error) {
	key, err := b.folder(ctx, folder)
	if err != nil {
		return nil, err
	}
	var names []string
	for info, err := range b.keys(ctx, key, false) {
		if err != nil {
			return nil, err
		}
		name, isFolder := strings.CutSuffix(strings.TrimPrefix(info.Key, key), "/")
		if isFolder && store.CheckName(name) == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// keys lists what lies below a key prefix, going on after a fault where it was.
func (b *Backend) keys(ctx context.Context, key string, recursive bool) iter.Seq2[minio.ObjectInfo, error] {
	return func(yield func(minio.ObjectInfo, error) bool) {
		last := ""
		done := false
		err := b.retry(ctx, func(ctx context.Context) error {
			opts := minio.ListObjectsOptions{Prefix: key, Recursive: recursive, StartAfter: last}
			for info := range b.client.ListObjectsIter(ctx, b.cfg.Bucket, opts) {
				if info.Err != nil {
					return info.Err
				}
				last = info.Key
				if done = !yield(info, nil); done {
					return nil
				}
			}
			return nil
		})
		if err != nil && !done {
			yield(minio.ObjectInfo{}, fmt.Errorf("list %s: %w", key, err))
		}
	}
}

// Ping asks whether the bucket is there and may be used.
func (b *Backend) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, b.cfg.Timeout)
	defer cancel()
	ok, err := b.client.BucketExists(ctx, b.cfg.Bucket)
	if err == nil && !ok {
		err = fmt.Errorf("there is no such bucket: %w", store.ErrNotFound)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", b, classify(err))
	}
	return nil
}
