package load

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
)

const export = "/opentelemetry.proto.collector.trace.v1.TraceService/Export"

// Sent is what a load came to.
type Sent struct {
	// Spans and Bytes were accepted; Bytes counts OTLP protobuf.
	Spans, Bytes int64
	Requests     int64
	// Refused counts the answers that asked to try again.
	Refused int64
	// Elapsed is the time from the first request to the last answer.
	Elapsed time.Duration
}

// Options say how a load is sent.
type Options struct {
	// Lanes is how many requests are under way at once.
	Lanes int
	// Gzip compresses requests, as exporters of collectors do by default and those
	// of SDKs do not.
	Gzip bool
}

// Send makes a load and sends it as fast as it is accepted. A request that is refused for now is sent
// again, later and later; one that is refused for good, or in part, ends it all.
func Send(ctx context.Context, conn grpc.ClientConnInterface, l Load, o Options) (Sent, error) {
	// What a lane starts with is made before the clock runs.
	ready := make([]*Lane, o.Lanes)
	for i := range ready {
		ready[i] = l.Lane(i, o.Lanes)
	}
	call := []grpc.CallOption{grpc.ForceCodecV2(raw{})}
	if o.Gzip {
		call = append(call, grpc.UseCompressor(gzip.Name))
	}
	var spans, size, requests, refused atomic.Int64
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	began := time.Now()
	var group sync.WaitGroup
	for _, lane := range ready {
		group.Go(func() {
			for {
				req, ok := lane.Next()
				if !ok {
					return
				}
				tries, err := deliver(ctx, conn, req.Body, call)
				refused.Add(tries)
				if err != nil {
					fail(err)
					return
				}
				requests.Add(1)
				spans.Add(int64(req.Spans))
				size.Add(int64(len(req.Body)))
			}
		})
	}
	group.Wait()
	return Sent{
		Spans: spans.Load(), Bytes: size.Load(), Requests: requests.Load(),
		Refused: refused.Load(), Elapsed: time.Since(began),
	}, context.Cause(ctx)
}

// deliver sends one request until it is accepted and returns how often it was not.
func deliver(ctx context.Context, conn grpc.ClientConnInterface, body []byte, call []grpc.CallOption) (refused int64, _ error) {
	const longest = 2 * time.Second
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, longest) {
		var answer []byte
		err := conn.Invoke(ctx, export, body, &answer, call...)
		if err == nil {
			return refused, whole(answer)
		}
		if !retryable(status.Code(err)) || ctx.Err() != nil {
			return refused, fmt.Errorf("export: %w", err)
		}
		refused++
		select {
		case <-ctx.Done():
			return refused, context.Cause(ctx)
		case <-time.After(wait):
		}
	}
}

// errRejected is the answer of a receiver that took a part of a request.
var errRejected = errors.New("the receiver rejected spans")

func whole(answer []byte) error {
	response := ptraceotlp.NewExportResponse()
	if err := response.UnmarshalProto(answer); err != nil {
		return fmt.Errorf("export: answer: %w", err)
	}
	if n := response.PartialSuccess().RejectedSpans(); n > 0 {
		return fmt.Errorf("%w: %d: %s", errRejected, n, response.PartialSuccess().ErrorMessage())
	}
	return nil
}

// retryable follows the OTLP specification.
func retryable(code codes.Code) bool {
	switch code {
	case codes.Canceled, codes.DeadlineExceeded, codes.ResourceExhausted, codes.Aborted,
		codes.OutOfRange, codes.Unavailable, codes.DataLoss:
		return true
	default:
		return false
	}
}

// raw passes messages that are bytes already.
type raw struct{}

var _ encoding.CodecV2 = raw{}

func (raw) Name() string { return "proto" }

func (raw) Marshal(v any) (mem.BufferSlice, error) {
	body, ok := v.([]byte)
	if !ok {
		return nil, fmt.Errorf("%T is no message in bytes", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(body)}, nil
}

func (raw) Unmarshal(data mem.BufferSlice, v any) error {
	into, ok := v.(*[]byte)
	if !ok {
		return fmt.Errorf("%T takes no message in bytes", v)
	}
	*into = data.Materialize()
	return nil
}
