package tapestore

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/tape"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/extension/extensiontest"
)

func TestIndexConfig(t *testing.T) {
	for name, test := range map[string]struct {
		index map[string]any
		err   string
	}{
		"as it is":       {nil, ""},
		"set":            {map[string]any{"flush_interval": "1m", "flush_rows": 10}, ""},
		"too often":      {map[string]any{"flush_interval": "10ms"}, "flush_interval must be from 1s to 5m0s"},
		"too seldom":     {map[string]any{"flush_interval": "1h"}, "flush_interval must be from"},
		"no rows":        {map[string]any{"flush_rows": 0}, "flush_rows must be from 1"},
		"two places":     {map[string]any{"directory": "/x"}, "index::directory is for a store in a bucket"},
		"what is no key": {map[string]any{"flush": 1}, "flush"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := createDefaultConfig().(*Config)
			err := confmap.NewFromStringMap(map[string]any{"index": test.index}).Unmarshal(cfg)
			if err == nil {
				err = confmap.Validate(cfg)
			}
			if test.err != "" {
				require.ErrorContains(t, err, test.err)
				return
			}
			require.NoError(t, err)
		})
	}
}

func parquetFiles(t *testing.T, root string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "index", "*", "*", "*.parquet"))
	require.NoError(t, err)
	return files
}

func TestRowsAreInParquetFilesSoonAndAtTheEnd(t *testing.T) {
	root := t.TempDir()
	cfg := createDefaultConfig().(*Config)
	cfg.Directory.Path = root
	cfg.Index.FlushInterval = 20 * time.Millisecond
	e, err := newExtension(extensiontest.NewNopSettings(extensiontest.NopType), cfg)
	require.NoError(t, err)
	require.NoError(t, e.Start(t.Context(), componenttest.NewNopHost()))
	require.NoError(t, e.Store().AppendRows(t.Context(), []tape.Row{{TraceID: traceID, Outcome: "failed"}}))
	assert.Eventually(t, func() bool { return len(parquetFiles(t, root)) == 1 }, 5*time.Second, 5*time.Millisecond)
	require.NoError(t, e.Store().AppendRows(t.Context(), []tape.Row{{TraceID: "f" + traceID[1:], Outcome: "failed"}}))
	require.NoError(t, e.Shutdown(context.Background()))
	files := parquetFiles(t, root)
	require.Len(t, files, 1, "the first was replaced")
	journals, err := filepath.Glob(filepath.Join(root, "index", "*", "*", "*.jsonl"))
	require.NoError(t, err)
	assert.Empty(t, journals)

	again, _, _ := start(t, root)
	for _, id := range []string{traceID, "f" + traceID[1:]} {
		_, err := again.Store().Row(t.Context(), id)
		require.NoError(t, err)
	}
}

func TestAJournalThatCannotBeWrittenStopsTheStart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	cfg, err := loadS3(t, "most")
	require.NoError(t, err)
	cfg.Index.Directory = filepath.Join(file, "index")
	e, err := newExtension(extensiontest.NewNopSettings(extensiontest.NopType), cfg)
	require.NoError(t, err)
	err = e.Start(t.Context(), componenttest.NewNopHost())
	require.ErrorContains(t, err, cfg.Index.Directory)
	require.NoError(t, e.Shutdown(context.Background()))
}

// Collectors of one machine may share the directory in which rows wait, also when they
// write to different stores.
func TestRowsWaitApartForEachStore(t *testing.T) {
	folder := func(endpoint, bucket, prefix string) string {
		return rowFolder(&S3Config{Endpoint: endpoint, Bucket: bucket, Prefix: prefix})
	}
	one := folder("http://a", "tapes", "x")
	assert.Equal(t, one, folder("http://a", "tapes", "x"))
	assert.Regexp(t, `^tapes-[0-9a-f]{8}$`, one)
	for _, other := range []string{folder("http://b", "tapes", "x"), folder("http://a", "tapes", ""), folder("http://a", "others", "x")} {
		assert.NotEqual(t, one, other)
	}
}
