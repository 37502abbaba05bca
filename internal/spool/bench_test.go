package spool

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func batchOf(n, size int) []Record {
	recs := make([]Record, n)
	for i := range recs {
		recs[i] = Record{ID: ID{byte(i)}, Spans: 1, Payload: make([]byte, size), Extra: make([]byte, 16)}
	}
	return recs
}

func TestAppendAllocatesAtMostOnceABatch(t *testing.T) {
	for _, dir := range []string{"", t.TempDir()} {
		s, err := Open(Config{Directory: dir})
		require.NoError(t, err)
		recs := batchOf(64, 450)
		n := testing.AllocsPerRun(500, func() {
			if err := s.Append(recs); err != nil {
				t.Error(err)
			}
		})
		require.LessOrEqual(t, n, 1.0)
		require.NoError(t, s.Close())
	}
}

func BenchmarkAppend(b *testing.B) {
	for _, where := range []string{"memory", "disk"} {
		for _, n := range []int{1, 64} {
			b.Run(fmt.Sprintf("%s/%d", where, n), func(b *testing.B) {
				cfg := Config{MaxBytes: 512 << 20, SyncInterval: DefaultSyncInterval}
				if where == "disk" {
					cfg.Directory = b.TempDir()
				}
				s, err := Open(cfg)
				require.NoError(b, err)
				defer func() { require.NoError(b, s.Close()) }()
				recs := batchOf(n, 450)
				positions := make([]Position, n)
				b.ReportAllocs()
				b.ResetTimer()
				for range b.N {
					if err := s.Append(recs); err != nil {
						b.Fatal(err)
					}
					for i := range recs {
						positions[i] = recs[i].Pos
					}
					b.StopTimer()
					s.Free(itemsOf(recs), positions...)
					b.StartTimer()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/record")
			})
		}
	}
}

func BenchmarkFree(b *testing.B) {
	s, err := Open(Config{Directory: b.TempDir(), MaxBytes: 512 << 20})
	require.NoError(b, err)
	defer func() { require.NoError(b, s.Close()) }()
	recs := batchOf(100, 450)
	positions := make([]Position, len(recs))
	b.ReportAllocs()
	for range b.N {
		b.StopTimer()
		require.NoError(b, s.Append(recs))
		for i := range recs {
			positions[i] = recs[i].Pos
		}
		b.StartTimer()
		s.Free(itemsOf(recs), positions...)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(recs)), "ns/record")
}

// BenchmarkRead reads a run whose records lie among those of a hundred others.
func BenchmarkRead(b *testing.B) {
	s, err := Open(Config{Directory: b.TempDir()})
	require.NoError(b, err)
	defer func() { require.NoError(b, s.Close()) }()
	var positions []Position
	for range 100 {
		recs := batchOf(100, 450)
		require.NoError(b, s.Append(recs))
		positions = append(positions, recs[50].Pos)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if _, err := s.Read(positions, func(int, *Record) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(positions)), "ns/record")
}

// BenchmarkOpen starts with 1 GiB of records of 450 bytes, or what the variable
// says in MiB.
func BenchmarkOpen(b *testing.B) {
	size := int64(1024)
	if v := os.Getenv("SPOOL_BENCH_MIB"); v != "" {
		_, err := fmt.Sscan(v, &size)
		require.NoError(b, err)
	}
	cfg := Config{Directory: b.TempDir(), MaxBytes: 4 << 30}
	s, err := Open(cfg)
	require.NoError(b, err)
	recs := batchOf(1000, 450)
	for s.Stats().Bytes < size<<20 {
		require.NoError(b, s.Append(recs))
	}
	require.NoError(b, s.Close())
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		n := 0
		cfg.OnRecord = func(*Record) bool { n++; return true }
		s, err := Open(cfg)
		require.NoError(b, err)
		b.StopTimer()
		require.NoError(b, s.Close())
		b.ReportMetric(float64(n), "records")
		b.StartTimer()
	}
}
