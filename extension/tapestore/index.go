package tapestore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/dir"
	"go.uber.org/zap"
)

// IndexConfig says how rows get into the index of the store.
type IndexConfig struct {
	// Directory is where rows wait to be written to a bucket, so that the end of
	// this process loses none. Empty is a directory of the system. A store in a
	// directory keeps them itself.
	Directory string `mapstructure:"directory"`
	// FlushInterval is how often rows are written to Parquet files, at most every
	// second and at least every five minutes.
	FlushInterval time.Duration `mapstructure:"flush_interval"`
	// FlushRows is how many rows of one hour come to one file; when there are as
	// many, it is written at once.
	FlushRows int `mapstructure:"flush_rows"`

	// prevent unkeyed literal initialization
	_ struct{}
}

// Bounds of the settings of the index.
const (
	minFlushInterval = time.Second
	maxFlushInterval = 5 * time.Minute
	maxFlushRows     = 250_000
)

func defaultIndex() IndexConfig {
	return IndexConfig{FlushInterval: store.DefaultFlushInterval, FlushRows: store.DefaultFlushRows}
}

// Validate checks the settings by themselves.
func (c *IndexConfig) Validate() error {
	switch {
	case c.FlushInterval < minFlushInterval || c.FlushInterval > maxFlushInterval:
		return fmt.Errorf("flush_interval must be from %v to %v", minFlushInterval, maxFlushInterval)
	case c.FlushRows < 1 || c.FlushRows > maxFlushRows:
		return fmt.Errorf("flush_rows must be from 1 to %d", maxFlushRows)
	}
	return nil
}

var errIndexDirectory = errors.New("index::directory is for a store in a bucket: one in a directory keeps the rows itself")

// journal opens the place where rows for a bucket wait, nil when the store is
// in a directory.
func (e *storeExtension) journal() (store.JournalBackend, error) {
	if !e.cfg.S3.HasValue() {
		return nil, nil
	}
	path := e.cfg.Index.Directory
	if path == "" {
		path = defaultIndexPath()
	}
	backend, err := dir.Open(filepath.Join(path, rowFolder(e.cfg.S3.Get())))
	if err != nil {
		return nil, fmt.Errorf("index: %w", err)
	}
	return backend, nil
}

// rowFolder is where rows for a bucket wait in the directory that collectors of one
// machine share: what is for one store must not go to another.
func rowFolder(c *S3Config) string {
	sum := sha256.Sum256([]byte(c.Endpoint + "\x00" + c.Bucket + "\x00" + c.Prefix))
	return c.Bucket + "-" + hex.EncodeToString(sum[:4])
}

func defaultIndexPath() string {
	if runtime.GOOS == "windows" {
		return filepath.Join(os.Getenv("ProgramData"), "otelcol-tape", "index")
	}
	return "/var/lib/otelcol-tape/index"
}

// upkeep is the work on the index in the background.
type upkeep struct {
	stop context.CancelFunc
	done chan struct{}
}

func (e *storeExtension) maintainIndex(st *store.Store) upkeep {
	ctx, stop := context.WithCancel(context.Background())
	u := upkeep{stop: stop, done: make(chan struct{})}
	go func() {
		defer close(u.done)
		st.Maintain(ctx, e.cfg.Index.FlushInterval, func(err error) {
			e.logger.Warn("The index of the tape store could not be brought up to date, which is tried again", zap.Error(err))
		})
	}()
	return u
}

// lastFlush bounds what a shutdown waits for the bucket. Rows that do not get there
// wait in the journal for the next start.
const lastFlush = 10 * time.Second

// end stops the work and writes what is left.
func (u *upkeep) end(ctx context.Context, st *store.Store) error {
	u.stop()
	<-u.done
	ctx, cancel := context.WithTimeout(ctx, lastFlush)
	defer cancel()
	return st.Flush(ctx, true)
}
