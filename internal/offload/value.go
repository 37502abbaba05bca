package offload

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/walk"
)

// sniff names the media type of a body. A string that is not UTF-8 counts as
// bytes; it comes back as the string it was.
func sniff(data []byte) string {
	for _, c := range data {
		if c == ' ' || c == '\n' || c == '\r' || c == '\t' {
			continue
		}
		if (c == '{' || c == '[') && json.Valid(data) && utf8.Valid(data) {
			return MediaJSON
		}
		break
	}
	if utf8.Valid(data) {
		return MediaText
	}
	return MediaBytes
}

// smallSize adds up what stays in a value once leaves over the threshold are
// gone. It stops soon after the sum is over the threshold.
func smallSize(v pcommon.Value, threshold, depth int) int {
	const perValue = 8
	size := perValue
	add := func(n int) {
		if n <= threshold {
			size += n
		}
	}
	switch v.Type() {
	case pcommon.ValueTypeStr:
		add(len(v.Str()))
	case pcommon.ValueTypeBytes:
		add(v.Bytes().Len())
	case pcommon.ValueTypeMap:
		if depth >= walk.MaxDepth {
			break
		}
		for k, e := range v.Map().All() {
			add(len(k))
			size += smallSize(e, threshold, depth+1)
			if size > threshold {
				break
			}
		}
	case pcommon.ValueTypeSlice:
		if depth >= walk.MaxDepth {
			break
		}
		for _, e := range v.Slice().All() {
			size += smallSize(e, threshold, depth+1)
			if size > threshold {
				break
			}
		}
	}
	return size
}

// envelope is the smallest OTLP message around a value, which has no encoding
// of its own in pdata: a trace whose resource has it as the attribute with an
// empty name.
type envelope struct {
	td    ptrace.Traces
	value pcommon.Value
}

func newEnvelope() envelope {
	td := ptrace.NewTraces()
	return envelope{td, td.ResourceSpans().AppendEmpty().Resource().Attributes().PutEmpty("")}
}

// The tags of the messages around the value, outermost first: resource_spans,
// resource, attributes, value.
var tags = [...]byte{0x0a, 0x0a, 0x0a, 0x12}

var errEnvelope = errors.New("unexpected encoding around a value")

// marshal encodes the value as one AnyValue message.
func (e envelope) marshal() ([]byte, error) {
	data, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(e.td)
	if err != nil {
		return nil, fmt.Errorf("encode a value: %w", err)
	}
	for _, tag := range tags {
		if data, err = field(data, tag); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// field is the content of the first field with that tag.
func field(data []byte, tag byte) ([]byte, error) {
	for len(data) > 0 {
		const lengthDelimited = 2
		got := data[0]
		n, w := binary.Uvarint(data[1:])
		if got&7 != lengthDelimited || w <= 0 || n > uint64(len(data)-1-w) {
			return nil, errEnvelope
		}
		body := data[1+w : 1+w+int(n)]
		if got == tag {
			return body, nil
		}
		data = data[1+w+int(n):]
	}
	return nil, errEnvelope
}

// unmarshalValue decodes an AnyValue message.
func unmarshalValue(data []byte) (pcommon.Value, error) {
	var heads []byte
	for i := len(tags) - 1; i >= 0; i-- {
		head := binary.AppendUvarint([]byte{tags[i]}, uint64(len(heads)+len(data)))
		heads = append(head, heads...)
	}
	td, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(append(heads, data...))
	if err != nil {
		return pcommon.Value{}, fmt.Errorf("decode a value: %w", err)
	}
	for _, v := range td.ResourceSpans().At(0).Resource().Attributes().All() {
		return v, nil
	}
	return pcommon.Value{}, errEnvelope
}
