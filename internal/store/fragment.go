package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/tapedeck/tapedeck/tape"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Run is what is stored of one kept run.
type Run struct {
	TraceID string
	// Traces holds the spans of all fragments. A span that was delivered twice
	// in different company is in it twice.
	Traces ptrace.Traces
	// Classes are the classes that hold fragments of the run, sorted.
	Classes []string
	// Parts are the fragments that were found, those of the same content once, and
	// Version is what they are: another when anything of the run was added or removed.
	Parts   []Object
	Version string
	// Fragments counts those that could be read, Bytes is their stored length.
	Fragments int
	Bytes     int64
	// Damaged has one error for each fragment that could not be read.
	Damaged []error
}

// Fragment is a stored part of a run.
type Fragment struct {
	// Name comes from the content.
	Name string
	// Bytes is the stored length.
	Bytes int64
}

// PutFragment stores spans of one run.
// All spans of td must be of that trace. Storing the same spans again is
// harmless. The error is ErrTooLarge, ErrBadName or ErrBadTraceID for what can
// never be stored.
func (s *Store) PutFragment(ctx context.Context, class, traceID string, td ptrace.Traces) (Fragment, error) {
	if err := CheckClass(class); err != nil {
		return Fragment{}, err
	}
	id, err := ParseTraceID(traceID)
	if err != nil {
		return Fragment{}, err
	}
	plain, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(td)
	if err != nil {
		return Fragment{}, fmt.Errorf("trace %s: %w: %w", id, ErrDamaged, err)
	}
	packed, err := s.codec.encode(plain)
	if err != nil {
		return Fragment{}, fmt.Errorf("trace %s: %w", id, err)
	}
	// What is stored is hashed, and not what it unfolds to, which is a hundred times
	// as much: the encoder makes the same of the same, and where another release of
	// it does not, a run has a part twice, which a reader merges. Half of the hash
	// names a fragment beyond doubt and keeps paths short.
	sum := sha256.Sum256(packed)
	f := Fragment{Name: hex.EncodeToString(sum[:16]), Bytes: int64(len(packed))}
	name := fragmentName(class, id, f.Name)
	if err := s.backend.Put(ctx, name, packed); err != nil {
		return Fragment{}, fmt.Errorf("write fragment %s: %w", name, err)
	}
	s.tapeClasses.add(class)
	return f, nil
}

// Trace reads all fragments of a run, whatever their class. The error is
// ErrNotFound when there are none, ErrDamaged when none of them can be read.
func (s *Store) Trace(ctx context.Context, traceID string) (*Run, error) {
	id, err := ParseTraceID(traceID)
	if err != nil {
		return nil, err
	}
	run := &Run{TraceID: id, Traces: ptrace.NewTraces()}
	objects, err := s.fragments(ctx, id)
	if err != nil {
		return nil, err
	}
	objects = run.distinct(objects)
	run.Parts, run.Version = objects, versionOf(objects)
	parts := make([]*ptrace.Traces, len(objects))
	damage := make([]error, len(objects))
	err = each(ctx, len(objects), func(ctx context.Context, i int) error {
		td, err := s.fragment(ctx, objects[i].Name)
		if err == nil {
			parts[i] = &td
		}
		if errors.Is(err, ErrDamaged) || errors.Is(err, ErrTooLarge) {
			damage[i], err = err, nil
		}
		if errors.Is(err, ErrNotFound) {
			// Deleted between the listing and the read.
			err = nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for i, object := range objects {
		switch {
		case damage[i] != nil:
			s.damaged(object.Name, damage[i])
			run.Damaged = append(run.Damaged, damage[i])
		case parts[i] != nil:
			run.Fragments++
			run.Bytes += object.Size
			parts[i].ResourceSpans().MoveAndAppendTo(run.Traces.ResourceSpans())
		}
	}
	if run.Fragments == 0 {
		if len(run.Damaged) > 0 {
			return nil, errors.Join(run.Damaged...)
		}
		return nil, fmt.Errorf("trace %s: %w", id, ErrNotFound)
	}
	return run, nil
}

// Delete removes the fragments and the row of a run. The error is ErrNotFound
// when there is neither. Bodies held by reference stay, because other tapes of
// the same class and week may name them: they go with their week, when the
// retention of their class removes it. The row disappears from every answer at
// once and from the index files when its hour expires.
func (s *Store) Delete(ctx context.Context, traceID string) error {
	id, err := ParseTraceID(traceID)
	if err != nil {
		return err
	}
	objects, err := s.allFragments(ctx, id)
	if err != nil {
		return err
	}
	for _, object := range objects {
		if err := s.backend.Delete(ctx, object.Name); err != nil {
			return fmt.Errorf("delete fragment %s: %w", object.Name, err)
		}
	}
	found, err := s.index.lookup(ctx, id, time.Time{})
	if err != nil {
		return err
	}
	if _, ok := mergeEntries(found); !ok {
		if len(objects) == 0 {
			return fmt.Errorf("trace %s: %w", id, ErrNotFound)
		}
		return nil
	}
	// A row from a machine whose clock is ahead must be hidden too.
	at := s.now()
	for i := range found {
		if newest := parseTime(found[i].Decided); !newest.Before(at.Truncate(time.Microsecond)) {
			at = newest.Add(time.Microsecond)
		}
	}
	grave := Entry{Row: tape.Row{TraceID: id, Decided: formatTime(at)}, Deleted: true}
	if err := s.index.add(ctx, []Entry{grave}); err != nil {
		return fmt.Errorf("delete row of %s: %w", id, err)
	}
	return nil
}

// StoredBytes is the length of all that is stored of a run.
func (s *Store) StoredBytes(ctx context.Context, traceID string) (int64, error) {
	id, err := ParseTraceID(traceID)
	if err != nil {
		return 0, err
	}
	objects, err := s.fragments(ctx, id)
	if err != nil {
		return 0, err
	}
	var n int64
	seen := map[string]bool{}
	for _, object := range objects {
		// The same fragment in two classes counts once, as it is read once.
		if base := path.Base(object.Name); !seen[base] {
			seen[base] = true
			n += object.Size
		}
	}
	return n, nil
}

// distinct notes the classes of objects that are in the order of their names, and
// gives those that are not the same fragment in another class: that has the same
// name there.
func (r *Run) distinct(objects []Object) []Object {
	seen := make(map[string]bool, len(objects))
	var list []Object
	for _, object := range objects {
		class := classOf(object.Name)
		if len(r.Classes) == 0 || r.Classes[len(r.Classes)-1] != class {
			r.Classes = append(r.Classes, class)
		}
		if base := path.Base(object.Name); !seen[base] {
			seen[base] = true
			list = append(list, object)
		}
	}
	return list
}

func (s *Store) fragment(ctx context.Context, name string) (ptrace.Traces, error) {
	if !strings.HasSuffix(name, fragmentSuffix) {
		return ptrace.Traces{}, fmt.Errorf("read %s: %w: the name of a fragment ends in %s", name, ErrDamaged, fragmentSuffix)
	}
	buf := plainPool.Get().(*[]byte)
	defer func() {
		if cap(*buf) <= keepPlain {
			plainPool.Put(buf)
		}
	}()
	plain, err := s.readInto(ctx, name, (*buf)[:0])
	if err != nil {
		return ptrace.Traces{}, err
	}
	*buf = plain
	// Traces keep nothing of what they are read from.
	td, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(plain)
	if err != nil {
		return ptrace.Traces{}, fmt.Errorf("read %s: %w: not OTLP: %w", name, ErrDamaged, err)
	}
	return td, nil
}

// plainPool holds the plain bytes of fragments between their uses.
var plainPool = sync.Pool{New: func() any { return new([]byte) }}

// keepPlain bounds what is kept of them.
const keepPlain = 8 << 20

// read gets and decompresses an object.
func (s *Store) read(ctx context.Context, name string) ([]byte, error) {
	return s.readInto(ctx, name, nil)
}

// readInto is read into the memory of buf, if that is enough.
func (s *Store) readInto(ctx context.Context, name string, buf []byte) ([]byte, error) {
	r, err := s.backend.Get(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	plain, err := s.codec.decode(r, buf)
	if closeErr := r.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return plain, nil
}

// classOf is the class in an object's name, its second segment.
func classOf(name string) string {
	_, rest, _ := strings.Cut(name, "/")
	class, _, _ := strings.Cut(rest, "/")
	return class
}
