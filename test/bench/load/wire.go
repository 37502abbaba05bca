package load

import "google.golang.org/protobuf/encoding/protowire"

// The field numbers of opentelemetry/proto/trace/v1/trace.proto and its parts, as
// far as they are written here.
const (
	requestResourceSpans = 1
	resourceSpansRes     = 1
	resourceSpansScopes  = 2
	resourceAttributes   = 1
	scopeSpansScope      = 1
	scopeSpansSpans      = 2
	scopeName            = 1
	scopeVersion         = 2

	spanTraceID    = 1
	spanID         = 2
	spanParent     = 4
	spanName       = 5
	spanKind       = 6
	spanStart      = 7
	spanEnd        = 8
	spanAttributes = 9
	spanStatus     = 15

	statusMessage = 2
	statusCode    = 3

	keyValueKey   = 1
	keyValueValue = 2
	valueString   = 1
	valueInt      = 3
	valueArray    = 5
	arrayValues   = 1

	kindInternal = 1
	kindClient   = 3
	codeError    = 2
)

// message appends a length-delimited field. The length stands before a body that
// is not known yet: the body is written first and moved, which is cheaper than to
// write it twice.
func message(dst []byte, num protowire.Number, body func([]byte) []byte) []byte {
	start := len(dst)
	dst = body(dst)
	size := len(dst) - start
	var head [16]byte
	h := protowire.AppendVarint(protowire.AppendTag(head[:0], num, protowire.BytesType), uint64(size))
	dst = append(dst, h...)
	copy(dst[start+len(h):], dst[start:start+size])
	copy(dst[start:], h)
	return dst
}

type text interface{ ~string | ~[]byte }

func bytesField[T text](dst []byte, num protowire.Number, v T) []byte {
	dst = protowire.AppendVarint(protowire.AppendTag(dst, num, protowire.BytesType), uint64(len(v)))
	return append(dst, v...)
}

func varint(dst []byte, num protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(dst, num, protowire.VarintType), v)
}

func fixed64(dst []byte, num protowire.Number, v uint64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(dst, num, protowire.Fixed64Type), v)
}

// stringAttr appends an attribute. Its sizes are known beforehand, since its value
// may be a conversation.
func stringAttr[T text](dst []byte, num protowire.Number, key string, v T) []byte {
	dst = protowire.AppendTag(dst, num, protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(keyValueSize(key, len(v))))
	dst = bytesField(dst, keyValueKey, key)
	dst = protowire.AppendTag(dst, keyValueValue, protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(sizeOf(len(v))))
	return bytesField(dst, valueString, v)
}

// intAttr appends an attribute of a span.
func intAttr(dst []byte, key string, v uint64) []byte {
	return message(dst, spanAttributes, func(dst []byte) []byte {
		dst = bytesField(dst, keyValueKey, key)
		return message(dst, keyValueValue, func(dst []byte) []byte { return varint(dst, valueInt, v) })
	})
}

// listAttr appends an attribute of a span that is a list of one text.
func listAttr(dst []byte, key, v string) []byte {
	return message(dst, spanAttributes, func(dst []byte) []byte {
		dst = bytesField(dst, keyValueKey, key)
		return message(dst, keyValueValue, func(dst []byte) []byte {
			return message(dst, valueArray, func(dst []byte) []byte {
				return message(dst, arrayValues, func(dst []byte) []byte { return bytesField(dst, valueString, v) })
			})
		})
	})
}

// sizeOf is the size of a field of n bytes; all numbers here fit into one byte.
func sizeOf(n int) int { return 1 + protowire.SizeBytes(n) }

func keyValueSize(key string, value int) int { return sizeOf(len(key)) + sizeOf(sizeOf(value)) }
