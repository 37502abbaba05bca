package s3

import (
	"context"
	"iter"
	"strings"

	"github.com/minio/minio-go/v7"

	"github.com/tapedeck/tapedeck/internal/store"
)

// Leftovers yields the uploads in parts that were begun below the prefix of the store
// and are not finished, which one that is going on is too. Where the bucket does not
// tell of them, there are none.
func (b *Backend) Leftovers(ctx context.Context) iter.Seq2[store.Object, error] {
	return func(yield func(store.Object, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		// It ends the goroutine that lists.
		defer cancel()
		for info := range b.client.ListIncompleteUploads(ctx, b.cfg.Bucket, b.prefix, true) {
			if codeOf(info.Err) == notImplemented {
				return
			}
			if info.Err != nil {
				yield(store.Object{}, classify(info.Err))
				return
			}
			object := store.Object{
				Name: strings.TrimPrefix(info.Key, b.prefix) + "?uploadId=" + info.UploadID,
				Size: info.Size, Modified: info.Initiated,
			}
			if !yield(object, nil) {
				return
			}
		}
	}
}

// RemoveLeftover gives up an upload by the name that Leftovers gave it.
func (b *Backend) RemoveLeftover(ctx context.Context, name string) error {
	object, upload, ok := strings.Cut(name, "?uploadId=")
	if !ok {
		return store.ErrBadName
	}
	key, err := b.key(ctx, object)
	if err != nil {
		return err
	}
	core := minio.Core{Client: b.client}
	return b.retry(ctx, func(ctx context.Context) error {
		err := core.AbortMultipartUpload(ctx, b.cfg.Bucket, key, upload)
		if isNotFound(err) || codeOf(err) == "NoSuchUpload" {
			return nil
		}
		return err
	})
}
