package store

import (
	"context"
	"fmt"
	"io"
	"iter"
	"strings"
)

// sub is the part of a backend below a prefix, as a backend of its own. A name is
// checked before it gets there: with the prefix before it ".." would lead out.
type sub struct {
	to     Backend
	prefix string
}

// subAppender is sub of a backend that can append.
type subAppender struct {
	sub
	appender Appender
}

var (
	_ Backend        = (*sub)(nil)
	_ JournalBackend = (*subAppender)(nil)
)

func (b *sub) name(name string) (string, error) {
	if err := CheckName(strings.TrimSuffix(name, "/")); err != nil {
		return "", err
	}
	return b.prefix + name, nil
}

// String names the place, for messages.
func (b *sub) String() string { return fmt.Sprintf("%v/%s", b.to, b.prefix) }

func (b *sub) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	full, err := b.name(name)
	if err != nil {
		return nil, err
	}
	return b.to.Get(ctx, full)
}

func (b *sub) GetRange(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	full, err := b.name(name)
	if err != nil {
		return nil, err
	}
	return b.to.GetRange(ctx, full, offset, length)
}

func (b *sub) List(ctx context.Context, folder string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		full, err := b.name(folder)
		if err != nil {
			yield(Object{}, err)
			return
		}
		for object, err := range b.to.List(ctx, full) {
			object.Name = strings.TrimPrefix(object.Name, b.prefix)
			if !yield(object, err) {
				return
			}
		}
	}
}

func (b *sub) Folders(ctx context.Context, folder string) ([]string, error) {
	full, err := b.name(folder)
	if err != nil {
		return nil, err
	}
	return b.to.Folders(ctx, full)
}

func (b *sub) Put(ctx context.Context, name string, data []byte) error {
	full, err := b.name(name)
	if err != nil {
		return err
	}
	return b.to.Put(ctx, full, data)
}

func (b *sub) Delete(ctx context.Context, name string) error {
	full, err := b.name(name)
	if err != nil {
		return err
	}
	return b.to.Delete(ctx, full)
}

func (b *subAppender) Append(ctx context.Context, name string, data []byte) error {
	full, err := b.name(name)
	if err != nil {
		return err
	}
	return b.appender.Append(ctx, full, data)
}
