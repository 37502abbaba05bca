package offload

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

const (
	prefix  = "tape-blob:"
	hashed  = prefix + "sha256:"
	escaped = prefix + "escaped:"

	maxMediaType = 127
)

// Media types a reference can name. MediaValue marks a map or an array, held
// as one OTLP AnyValue message.
const (
	MediaJSON  = "application/json"
	MediaText  = "text/plain"
	MediaBytes = "application/octet-stream"
	MediaValue = "application/x-protobuf;type=opentelemetry.proto.common.v1.AnyValue"
)

// Ref names a body that is held outside of the trace.
type Ref struct {
	// SHA256 is the digest of the body in lower-case hex.
	SHA256 string
	// Bytes is its length.
	Bytes int64
	// MediaType is one of the media types above, or another that a later
	// version gives.
	MediaType string
}

// String is the reference as it stands in a trace:
// "tape-blob:sha256:<64 hex>:<bytes>:<media type>".
func (r Ref) String() string {
	return hashed + r.SHA256 + ":" + strconv.FormatInt(r.Bytes, 10) + ":" + r.MediaType
}

// ParseRef reads a reference; ok is false for anything else.
func ParseRef(s string) (r Ref, ok bool) {
	rest, ok := strings.CutPrefix(s, hashed)
	if !ok || len(rest) > 2*sha256.Size+maxMediaType+24 {
		return Ref{}, false
	}
	hash, rest, ok := strings.Cut(rest, ":")
	if !ok || len(hash) != 2*sha256.Size || !isLowerHex(hash) {
		return Ref{}, false
	}
	size, media, ok := strings.Cut(rest, ":")
	if !ok || !isMediaType(media) {
		return Ref{}, false
	}
	n, err := strconv.ParseInt(size, 10, 64)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != size {
		return Ref{}, false
	}
	return Ref{SHA256: hash, Bytes: n, MediaType: media}, true
}

func isLowerHex(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func isMediaType(s string) bool {
	if s == "" || len(s) > maxMediaType {
		return false
	}
	for i := range len(s) {
		c := s[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && strings.IndexByte("/.+-;=_", c) < 0 {
			return false
		}
	}
	return true
}

func refOf(data []byte, media string) Ref {
	sum := sha256.Sum256(data)
	return Ref{SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(data)), MediaType: media}
}
