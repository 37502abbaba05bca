package offload

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/walk"
)

// ErrMissing is what get returns, wrapped or not, for a body that is not
// there: an expected end, not a fault.
var ErrMissing = errors.New("body is missing")

// ErrCorrupt marks a body whose length or digest is not that of its reference.
var ErrCorrupt = errors.New("body is not what its reference names")

// Restore puts bodies back in place of their references and takes escapes
// away: after it td is what [Traces] was given, value by value, type by type,
// byte by byte. A reference whose body cannot be had stays and is listed once
// in missing. The error joins the reasons other than [ErrMissing].
//
// Only a trace that went through [Traces] may be given to Restore. In one that
// did not, a sender could have written a reference to any body whose digest it
// knows.
func Restore(td ptrace.Traces, get func(Ref) ([]byte, error)) (missing []Ref, err error) {
	return restore(td, restorer{get: get})
}

// RestoreChecked is Restore with bodies that whoever got them has compared with their
// digests: they are not hashed again. It keeps the bytes, which nobody may change.
func RestoreChecked(td ptrace.Traces, get func(Ref) ([]byte, error)) (missing []Ref, err error) {
	return restore(td, restorer{get: get, checked: true})
}

func restore(td ptrace.Traces, r restorer) (missing []Ref, err error) {
	walk.Traces(td, &r)
	return r.missing, r.err()
}

type restorer struct {
	get     func(Ref) ([]byte, error)
	checked bool
	// bodies keeps what was fetched, so that a body that stands in every turn
	// of a conversation is fetched once and held once.
	bodies  map[Ref]string
	gone    map[Ref]bool
	missing []Ref
	failed  int
	errs    []error
}

func (r *restorer) err() error {
	if n := r.failed - len(r.errs); n > 0 {
		r.errs = append(r.errs, fmt.Errorf("and %d more", n))
	}
	return errors.Join(r.errs...)
}

func (r *restorer) Enter(walk.Node)       {}
func (r *restorer) Leave(walk.Node)       {}
func (r *restorer) Renamed(_, _ []string) {}

func (r *restorer) Text(_ *walk.Path, s string) string { return r.text(s) }
func (r *restorer) Key(_ *walk.Path, s string) string  { return r.text(s) }

func (r *restorer) text(s string) string {
	if !strings.HasPrefix(s, prefix) {
		return s
	}
	if rest, ok := strings.CutPrefix(s, escaped); ok {
		return rest
	}
	if ref, ok := ParseRef(s); ok {
		if body, ok := r.body(ref); ok {
			return body
		}
	}
	return s
}

func (r *restorer) body(ref Ref) (string, bool) {
	if body, ok := r.bodies[ref]; ok || r.gone[ref] {
		return body, ok
	}
	data, err := r.get(ref)
	if err == nil {
		err = r.check(ref, data)
	}
	if err != nil {
		r.lose(ref, err)
		return "", false
	}
	if r.bodies == nil {
		r.bodies = map[Ref]string{}
	}
	body := unsafe.String(unsafe.SliceData(data), len(data))
	if !r.checked {
		body = string(data)
	}
	r.bodies[ref] = body
	return body, true
}

func (r *restorer) check(ref Ref, data []byte) error {
	if r.checked {
		if int64(len(data)) != ref.Bytes {
			return fmt.Errorf("%w: got %d bytes", ErrCorrupt, len(data))
		}
		return nil
	}
	if got := refOf(data, ref.MediaType); got != ref {
		return fmt.Errorf("%w: got %d bytes with digest %s", ErrCorrupt, got.Bytes, got.SHA256)
	}
	return nil
}

func (r *restorer) lose(ref Ref, err error) {
	if r.gone == nil {
		r.gone = map[Ref]bool{}
	}
	r.gone[ref] = true
	delete(r.bodies, ref)
	r.missing = append(r.missing, ref)
	if errors.Is(err, ErrMissing) {
		return
	}
	r.failed++
	if len(r.errs) < maxErrors {
		r.errs = append(r.errs, fmt.Errorf("restore sha256:%s: %w", ref.SHA256, err))
	}
}

func (r *restorer) Value(_ *walk.Path, v pcommon.Value) bool {
	switch v.Type() {
	case pcommon.ValueTypeStr:
		s := v.Str()
		if ref, ok := ParseRef(s); ok && ref.MediaType == MediaValue {
			return r.structure(ref, v)
		}
		if t := r.text(s); t != s {
			v.SetStr(t)
		}
	case pcommon.ValueTypeBytes:
		if b := v.Bytes(); bytesHavePrefix(b) {
			b.FromRaw([]byte(r.text(string(b.AsRaw()))))
		}
	}
	return true
}

// structure puts a map or an array back. What was moved as one was not looked
// into, so the walk does not enter it either.
func (r *restorer) structure(ref Ref, v pcommon.Value) bool {
	body, ok := r.body(ref)
	if !ok {
		return true
	}
	got, err := unmarshalValue([]byte(body))
	if err != nil {
		r.lose(ref, err)
		return true
	}
	got.MoveTo(v)
	return false
}
