package tapestore

import (
	"context"
	"errors"
	"io"
	"iter"

	"github.com/tapedeck/tapedeck/extension/tapestore/internal/metadata"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/s3"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// observed counts what passes through a backend.
type observed struct {
	store.Backend
	telemetry *metadata.TelemetryBuilder
}

// observedAppender is observed for a backend that can append. The store asks
// for that by type, so a backend that cannot must not be wrapped in it.
type observedAppender struct {
	observed
	appender store.Appender
}

var (
	_ store.Backend  = (*observed)(nil)
	_ store.Appender = (*observedAppender)(nil)
)

var (
	bytesRead    = metric.WithAttributeSet(attribute.NewSet(attribute.String("direction", "read")))
	bytesWritten = metric.WithAttributeSet(attribute.NewSet(attribute.String("direction", "written")))
)

func (o *observed) count(ctx context.Context, operation string, err error) {
	outcome := "ok"
	switch {
	case errors.Is(err, store.ErrNotFound):
		outcome = "not_found"
	case err != nil:
		outcome = "error"
	}
	o.telemetry.TapeStoreOperations.Add(ctx, 1, metric.WithAttributes(
		attribute.String("operation", operation),
		attribute.String("outcome", outcome),
	))
}

func (o *observed) wrote(ctx context.Context, operation string, data []byte, err error) error {
	o.count(ctx, operation, err)
	if err == nil {
		o.telemetry.TapeStoreBytes.Add(ctx, int64(len(data)), bytesWritten)
	}
	return err
}

// Put implements store.Writer.
func (o *observed) Put(ctx context.Context, name string, data []byte) error {
	return o.wrote(ctx, "put", data, o.Backend.Put(ctx, name, data))
}

// Append implements store.Appender.
func (o *observedAppender) Append(ctx context.Context, name string, data []byte) error {
	return o.wrote(ctx, "append", data, o.appender.Append(ctx, name, data))
}

// Delete implements store.Writer.
func (o *observed) Delete(ctx context.Context, name string) error {
	err := o.Backend.Delete(ctx, name)
	o.count(ctx, "delete", err)
	return err
}

// Get implements store.Reader.
func (o *observed) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	r, err := o.Backend.Get(ctx, name)
	o.count(ctx, "get", err)
	if err != nil {
		return nil, err
	}
	return &observedReader{ReadCloser: r, ctx: ctx, telemetry: o.telemetry}, nil
}

// GetRange implements store.Reader.
func (o *observed) GetRange(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	data, err := o.Backend.GetRange(ctx, name, offset, length)
	o.count(ctx, "get", err)
	o.telemetry.TapeStoreBytes.Add(ctx, int64(len(data)), bytesRead)
	return data, err
}

// List implements store.Reader.
func (o *observed) List(ctx context.Context, folder string) iter.Seq2[store.Object, error] {
	return func(yield func(store.Object, error) bool) {
		var failed error
		defer func() { o.count(ctx, "list", failed) }()
		for object, err := range o.Backend.List(ctx, folder) {
			failed = err
			if !yield(object, err) {
				return
			}
		}
	}
}

// Folders implements store.Reader.
func (o *observed) Folders(ctx context.Context, folder string) ([]string, error) {
	folders, err := o.Backend.Folders(ctx, folder)
	o.count(ctx, "list", err)
	return folders, err
}

// observedReader adds up the bytes read until it is closed.
type observedReader struct {
	io.ReadCloser
	ctx       context.Context
	telemetry *metadata.TelemetryBuilder
	n         int64
}

func (r *observedReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.n += int64(n)
	return n, err
}

func (r *observedReader) Close() error {
	r.telemetry.TapeStoreBytes.Add(r.ctx, r.n, bytesRead)
	return r.ReadCloser.Close()
}

// requested counts a request to the bucket.
func (e *storeExtension) requested(r s3.Request) {
	e.telemetry.TapeStoreRequests.Add(context.Background(), 1, metric.WithAttributes(
		attribute.String("method", r.Method),
		attribute.Int("status", r.Status),
		attribute.Bool("retry", r.Retry),
	))
}
