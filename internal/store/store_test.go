package store_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/dir"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

const (
	idA = "0102030405060708090a0b0c0d0e0f10"
	idB = "ffeeddccbbaa99887766554433221100"
)

var noon = time.Date(2026, 1, 2, 12, 30, 0, 0, time.UTC)

// damages gathers what a store reports as damaged.
type damages struct {
	mu   sync.Mutex
	list []string
}

func (d *damages) add(name string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list = append(d.list, name+": "+err.Error())
}

func open(t testing.TB, b store.Backend, opts ...func(*store.Options)) (*store.Store, *damages) {
	t.Helper()
	d := &damages{}
	o := store.Options{Writer: "w", Now: func() time.Time { return noon }, OnDamaged: d.add}
	for _, opt := range opts {
		opt(&o)
	}
	s, err := store.Open(b, o)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s, d
}

// backends runs a test over one backend that can append and one that cannot.
func backends(t *testing.T, test func(t *testing.T, b store.Backend)) {
	t.Run("directory", func(t *testing.T) {
		b, err := dir.Open(t.TempDir())
		require.NoError(t, err)
		test(t, b)
	})
	t.Run("memory", func(t *testing.T) { test(t, storetest.NewMemory()) })
}

func spans(t testing.TB, id string, names ...string) ptrace.Traces {
	t.Helper()
	td := ptrace.NewTraces()
	ss := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
	raw, err := hex.DecodeString(id)
	require.NoError(t, err)
	for i, name := range names {
		span := ss.AppendEmpty()
		span.SetTraceID(pcommon.TraceID(raw))
		span.SetSpanID(pcommon.SpanID{byte(i + 1)})
		span.SetName(name)
	}
	return td
}

func names(td ptrace.Traces) []string {
	var list []string
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				list = append(list, span.Name())
			}
		}
	}
	return list
}

func sha(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func TestLayoutOnDisk(t *testing.T) {
	root := t.TempDir()
	b, err := dir.Open(root)
	require.NoError(t, err)
	s, _ := open(t, b)
	body := []byte("a large body")
	require.NoError(t, s.PutBlob(t.Context(), "failures", time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), sha(body), body))
	n, err := s.PutFragment(t.Context(), "failures", strings.ToUpper(idA), spans(t, idA, "root"))
	require.NoError(t, err)
	require.NoError(t, s.AppendRows(t.Context(), rowsOf(idA)))

	var files []string
	for _, top := range []string{"tapes/", "blobs/", "index/"} {
		for _, o := range storetest.List(t, b, top) {
			files = append(files, o.Name)
			if top == "tapes/" {
				assert.Equal(t, o.Size, n.Bytes)
				assert.Contains(t, o.Name, "/"+n.Name+".")
			}
		}
	}
	require.Len(t, files, 3)
	assert.Regexp(t, `^tapes/failures/`+idA+`/[0-9a-f]{32}\.otlp\.zst$`, files[0])
	assert.Equal(t, "blobs/failures/2026-W53/"+sha(body)+".zst", files[1])
	assert.Equal(t, "index/date=2026-01-02/hour=12/w-1767357600000.jsonl", files[2])

	// Any zstd and OTLP reader opens a fragment.
	packed, err := os.ReadFile(filepath.Join(root, files[0]))
	require.NoError(t, err)
	r, err := zstd.NewReader(bytes.NewReader(packed))
	require.NoError(t, err)
	defer r.Close()
	var plain bytes.Buffer
	_, err = plain.ReadFrom(r)
	require.NoError(t, err)
	td, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(plain.Bytes())
	require.NoError(t, err)
	assert.Equal(t, []string{"root"}, names(td))
}

func TestWritingTheSameThingTwiceIsHarmless(t *testing.T) {
	backends(t, func(t *testing.T, b store.Backend) {
		s, _ := open(t, b)
		body := []byte("body")
		for range 3 {
			_, err := s.PutFragment(t.Context(), "kept", idA, spans(t, idA, "root"))
			require.NoError(t, err)
			require.NoError(t, s.PutBlob(t.Context(), "kept", noon, sha(body), body))
		}
		assert.Len(t, storetest.List(t, b, "tapes/"), 1)
		assert.Len(t, storetest.List(t, b, "blobs/"), 1)
		run, err := s.Trace(t.Context(), idA)
		require.NoError(t, err)
		assert.Equal(t, []string{"root"}, names(run.Traces))
	})
}

func TestTwoCollectorsThatEachHoldHalfGiveOneRun(t *testing.T) {
	backends(t, func(t *testing.T, b store.Backend) {
		one, _ := open(t, b, func(o *store.Options) { o.Writer = "one" })
		two, _ := open(t, b, func(o *store.Options) { o.Writer = "two" })
		_, err := one.PutFragment(t.Context(), "failures", idA, spans(t, idA, "root", "call"))
		require.NoError(t, err)
		_, err = two.PutFragment(t.Context(), "kept", idA, spans(t, idA, "answer"))
		require.NoError(t, err)
		// The same fragment in both classes counts once.
		_, err = two.PutFragment(t.Context(), "kept", idA, spans(t, idA, "root", "call"))
		require.NoError(t, err)
		_, err = two.PutFragment(t.Context(), "kept", idB, spans(t, idB, "other run"))
		require.NoError(t, err)

		run, err := one.Trace(t.Context(), strings.ToUpper(idA))
		require.NoError(t, err)
		assert.Equal(t, idA, run.TraceID)
		assert.ElementsMatch(t, []string{"root", "call", "answer"}, names(run.Traces))
		assert.Equal(t, []string{"failures", "kept"}, run.Classes)
		assert.Equal(t, 2, run.Fragments)
		assert.Positive(t, run.Bytes)
		assert.Empty(t, run.Damaged)
	})
}

func TestTraceIDs(t *testing.T) {
	s, _ := open(t, storetest.NewMemory())
	for _, bad := range []string{"", "xyz", idA[1:], idA + "0", strings.Repeat("0", 32), strings.Repeat("g", 32), "../../../../../../../../etc/passwd"} {
		_, err := store.ParseTraceID(bad)
		require.ErrorIs(t, err, store.ErrBadTraceID, bad)
		_, err = s.Trace(t.Context(), bad)
		require.ErrorIs(t, err, store.ErrBadTraceID, bad)
		_, err = s.Row(t.Context(), bad)
		require.ErrorIs(t, err, store.ErrBadTraceID, bad)
		require.ErrorIs(t, s.Delete(t.Context(), bad), store.ErrBadTraceID, bad)
		_, err = s.PutFragment(t.Context(), "kept", bad, ptrace.NewTraces())
		require.ErrorIs(t, err, store.ErrBadTraceID, bad)
	}
	_, err := s.Trace(t.Context(), idA)
	require.ErrorIs(t, err, store.ErrNotFound)
	id, err := store.ParseTraceID(strings.ToUpper(idA))
	require.NoError(t, err)
	assert.Equal(t, idA, id)
}

func TestClassesCannotLeaveTheStore(t *testing.T) {
	s, _ := open(t, storetest.NewMemory())
	for _, bad := range []string{"", "..", ".x", "a/b", "a b", `a\b`, strings.Repeat("a", 200)} {
		_, err := s.PutFragment(t.Context(), bad, idA, ptrace.NewTraces())
		require.ErrorIs(t, err, store.ErrBadName, bad)
		require.ErrorIs(t, s.PutBlob(t.Context(), bad, noon, sha(nil), nil), store.ErrBadName, bad)
	}
}

func TestADamagedFragmentCostsOnlyItself(t *testing.T) {
	for name, change := range map[string]func([]byte) []byte{
		"cut":      func(b []byte) []byte { return b[:len(b)/2] },
		"flipped":  func(b []byte) []byte { b[len(b)-1] ^= 1; return b },
		"not zstd": func([]byte) []byte { return []byte("plain text") },
		"not OTLP": func([]byte) []byte {
			enc, _ := zstd.NewWriter(nil)
			return enc.EncodeAll([]byte("\xff\xff\xff\xff"), nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := storetest.NewMemory()
			s, damaged := open(t, b)
			_, err := s.PutFragment(t.Context(), "kept", idA, spans(t, idA, "lost"))
			require.NoError(t, err)
			victim := b.Names()[0]
			b.Damage(victim, change)

			_, err = s.Trace(t.Context(), idA)
			require.ErrorIs(t, err, store.ErrDamaged)
			assert.ErrorContains(t, err, victim)

			_, err = s.PutFragment(t.Context(), "kept", idA, spans(t, idA, "whole"))
			require.NoError(t, err)
			run, err := s.Trace(t.Context(), idA)
			require.NoError(t, err)
			assert.Equal(t, []string{"whole"}, names(run.Traces))
			assert.Len(t, run.Damaged, 1)
			assert.Contains(t, damaged.list[0], victim)
		})
	}
}

func TestABombIsNotUnfolded(t *testing.T) {
	b := storetest.NewMemory()
	s, _ := open(t, b, func(o *store.Options) { o.MaxObject = 1 << 20 })
	_, err := s.PutFragment(t.Context(), "kept", idA, spans(t, idA, strings.Repeat("x", 2<<20)))
	require.ErrorIs(t, err, store.ErrTooLarge)
	assert.Empty(t, b.Names())

	_, err = s.PutFragment(t.Context(), "kept", idA, spans(t, idA, "small"))
	require.NoError(t, err)
	// With and without the plain length in the frame header.
	for _, single := range []bool{true, false} {
		b.Damage(b.Names()[0], func([]byte) []byte {
			var bomb bytes.Buffer
			enc, err := zstd.NewWriter(&bomb, zstd.WithSingleSegment(single))
			require.NoError(t, err)
			_, err = enc.Write(make([]byte, 64<<20))
			require.NoError(t, err)
			require.NoError(t, enc.Close())
			return bomb.Bytes()
		})
		_, err = s.Trace(t.Context(), idA)
		require.ErrorIs(t, err, store.ErrTooLarge)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	_, err := store.Open(storetest.NewMemory(), store.Options{Writer: "a/b"})
	require.ErrorIs(t, err, store.ErrBadName)
	_, err = store.Open(storetest.NewMemory(), store.Options{MaxObject: -1})
	require.Error(t, err)
	s, err := store.Open(storetest.NewMemory(), store.Options{})
	require.NoError(t, err)
	require.NoError(t, s.AppendRows(t.Context(), rowsOf(idA)))
	s.Close()
}

func TestInvalidUTF8SurvivesTheStore(t *testing.T) {
	s, _ := open(t, storetest.NewMemory())
	_, err := s.PutFragment(t.Context(), "kept", idA, spans(t, idA, "broken \xff\xfe name"))
	require.NoError(t, err)
	run, err := s.Trace(t.Context(), idA)
	require.NoError(t, err)
	assert.Equal(t, []string{"broken \xff\xfe name"}, names(run.Traces))
}

// What no fragment is called like is not passed over in silence.
func TestAnUnknownKindOfObjectIsToldAndCanBeDeleted(t *testing.T) {
	b := storetest.NewMemory()
	s, damaged := open(t, b)
	odd := "tapes/kept/" + idA + "/part.otlp.gz"
	require.NoError(t, b.Put(t.Context(), odd, []byte("x")))
	_, err := s.Trace(t.Context(), idA)
	require.ErrorIs(t, err, store.ErrDamaged)
	assert.ErrorContains(t, err, odd)
	require.Len(t, damaged.list, 1)
	assert.Contains(t, damaged.list[0], odd)

	_, err = s.PutFragment(t.Context(), "kept", idA, spans(t, idA, "whole"))
	require.NoError(t, err)
	run, err := s.Trace(t.Context(), idA)
	require.NoError(t, err)
	assert.Equal(t, []string{"whole"}, names(run.Traces))
	assert.Len(t, run.Damaged, 1)

	require.NoError(t, s.Delete(t.Context(), idA))
	assert.Empty(t, b.Names())
}
