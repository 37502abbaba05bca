package main

import (
	"errors"
	"sync"
	"sync/atomic"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/test/bench/load"
)

// Weight is how large a load is.
type Weight struct {
	Name  string `json:"name"`
	Runs  int    `json:"runs"`
	Open  int    `json:"open_at_once"`
	Spans int64  `json:"spans"`
	// Proto and JSON are its bytes in the two encodings of OTLP.
	Proto int64 `json:"otlp_proto_bytes"`
	JSON  int64 `json:"otlp_json_bytes"`
}

// weigh makes a load once for its size alone, while nothing else is measured.
func weigh(l load.Load) (Weight, error) {
	var spans, proto, text atomic.Int64
	errs := make([]error, lanes)
	var group sync.WaitGroup
	for i := range lanes {
		group.Go(func() {
			var decoder ptrace.ProtoUnmarshaler
			var encoder ptrace.JSONMarshaler
			for lane := l.Lane(i, lanes); ; {
				req, ok := lane.Next()
				if !ok {
					return
				}
				td, err := decoder.UnmarshalTraces(req.Body)
				if err != nil {
					errs[i] = err
					return
				}
				out, err := encoder.MarshalTraces(td)
				if err != nil {
					errs[i] = err
					return
				}
				spans.Add(int64(req.Spans))
				proto.Add(int64(len(req.Body)))
				text.Add(int64(len(out)))
			}
		})
	}
	group.Wait()
	w := Weight{Name: l.Name, Runs: l.Runs, Open: l.Open, Spans: spans.Load(), Proto: proto.Load(), JSON: text.Load()}
	return w, errors.Join(errs...)
}
