package load

import (
	"context"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

// receiver is an OTLP server that answers as told.
type receiver struct {
	ptraceotlp.UnimplementedGRPCServer

	mu     sync.Mutex
	calls  int
	spans  map[pcommon.TraceID]int
	answer func(call int) (ptraceotlp.ExportResponse, error)
}

func (r *receiver) Export(_ context.Context, req ptraceotlp.ExportRequest) (ptraceotlp.ExportResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls++
	response, err := r.answer(r.calls)
	if err != nil {
		return response, err
	}
	for _, rs := range req.Traces().ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				r.spans[span.TraceID()]++
			}
		}
	}
	return response, nil
}

// serve starts a receiver and connects to it.
func serve(t *testing.T, answer func(call int) (ptraceotlp.ExportResponse, error)) (*receiver, *grpc.ClientConn) {
	t.Helper()
	t.Cleanup(func() { goleak.VerifyNone(t) })
	r := &receiver{spans: map[pcommon.TraceID]int{}, answer: answer}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := grpc.NewServer()
	ptraceotlp.RegisterGRPCServer(server, r)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, conn.Close())
		server.Stop()
		assert.NoError(t, <-served)
	})
	return r, conn
}

func taken(int) (ptraceotlp.ExportResponse, error) { return ptraceotlp.NewExportResponse(), nil }

func TestEverySpanArrives(t *testing.T) {
	for name, o := range map[string]Options{"plain": {Lanes: 3}, "gzip": {Lanes: 2, Gzip: true}} {
		t.Run(name, func(t *testing.T) {
			r, conn := serve(t, taken)
			sent, err := Send(t.Context(), conn, Light(50, 1), o)
			require.NoError(t, err)
			assert.EqualValues(t, 5_000, sent.Spans)
			assert.EqualValues(t, r.calls, sent.Requests)
			assert.Zero(t, sent.Refused)
			assert.Positive(t, sent.Bytes)
			assert.Positive(t, sent.Elapsed)
			require.Len(t, r.spans, 50)
			for _, n := range r.spans {
				assert.Equal(t, 100, n)
			}
		})
	}
}

func TestARequestThatIsRefusedForNowIsSentAgain(t *testing.T) {
	for _, code := range []codes.Code{codes.Unavailable, codes.ResourceExhausted} {
		t.Run(code.String(), func(t *testing.T) {
			r, conn := serve(t, func(call int) (ptraceotlp.ExportResponse, error) {
				if call <= 2 {
					return ptraceotlp.NewExportResponse(), status.Error(code, "full")
				}
				return taken(call)
			})
			sent, err := Send(t.Context(), conn, Light(10, 1), Options{Lanes: 1})
			require.NoError(t, err)
			assert.EqualValues(t, 2, sent.Refused)
			assert.EqualValues(t, 1_000, sent.Spans)
			assert.Len(t, r.spans, 10)
		})
	}
}

func TestARequestThatIsRefusedForGoodEndsTheLoad(t *testing.T) {
	_, conn := serve(t, func(call int) (ptraceotlp.ExportResponse, error) {
		if call == 2 {
			return ptraceotlp.NewExportResponse(), status.Error(codes.InvalidArgument, "not like this")
		}
		return taken(call)
	})
	sent, err := Send(t.Context(), conn, Light(50, 1), Options{Lanes: 2})
	assert.Equal(t, codes.InvalidArgument, status.Code(err), "%v", err)
	assert.Less(t, sent.Spans, int64(5_000))
}

func TestAPartThatIsRejectedEndsTheLoad(t *testing.T) {
	_, conn := serve(t, func(int) (ptraceotlp.ExportResponse, error) {
		response := ptraceotlp.NewExportResponse()
		response.PartialSuccess().SetRejectedSpans(3)
		response.PartialSuccess().SetErrorMessage("too old")
		return response, nil
	})
	_, err := Send(t.Context(), conn, Light(10, 1), Options{Lanes: 1})
	require.ErrorIs(t, err, errRejected)
	assert.ErrorContains(t, err, "too old")
}

func TestSendingEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, conn := serve(t, func(int) (ptraceotlp.ExportResponse, error) {
		cancel()
		return ptraceotlp.NewExportResponse(), status.Error(codes.Unavailable, "full")
	})
	_, err := Send(ctx, conn, Light(10, 1), Options{Lanes: 2})
	assert.ErrorIs(t, err, context.Canceled)
}
