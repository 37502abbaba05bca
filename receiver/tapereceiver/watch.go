package tapereceiver

import (
	"compress/flate"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tapedeck/tapedeck/internal/ingest"
	"github.com/tapedeck/tapedeck/tape"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.uber.org/zap"
)

// suffixes are those of files that are tapes.
var suffixes = []string{".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz"}

// version tells the contents of a file apart, as far as its directory entry does.
type version struct {
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
}

func (v version) same(o version) bool { return v.Size == o.Size && v.Modified.Equal(o.Modified) }

// watcher takes in the files of a directory. Each is dealt with once for each
// version of it: taken in, or found to be nothing that ever will be.
type watcher struct {
	*tapeReceiver
	watch *WatchConfig
	// done has the files that have been dealt with; it is the checkpoint.
	done map[string]version
	// waiting has those of which the last line is not whole yet, to say it once.
	waiting map[string]version
}

func (r *tapeReceiver) newWatcher(ctx context.Context, cfg *WatchConfig) (*watcher, error) {
	w := &watcher{tapeReceiver: r, watch: cfg, done: map[string]version{}, waiting: map[string]version{}}
	if info, err := os.Stat(cfg.Directory); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%s is no directory", cfg.Directory)
	}
	if cfg.MoveTo != "" {
		if err := os.MkdirAll(cfg.MoveTo, 0o700); err != nil {
			return nil, fmt.Errorf("move_to: %w", err)
		}
	}
	if _, err := r.checkpoint.load(ctx, watchKey, &w.done); err != nil {
		return nil, err
	}
	if w.done == nil {
		w.done = map[string]version{}
	}
	return w, nil
}

func (w *watcher) run(ctx context.Context) {
	for {
		if err := w.look(ctx, time.Now()); err != nil && ctx.Err() == nil {
			w.logger.Error("The watched directory cannot be read, trying again at the next look", zap.Error(err))
		}
		if sleep(ctx, w.watch.PollInterval) != nil {
			return
		}
	}
}

// look deals with the files that are ready, in the order of their names.
func (w *watcher) look(ctx context.Context, now time.Time) error {
	entries, err := os.ReadDir(w.watch.Directory)
	if err != nil {
		return err
	}
	there := make(map[string]bool, len(entries))
	for _, entry := range entries {
		name := entry.Name()
		// Names with a dot are those of files that are being written.
		if strings.HasPrefix(name, ".") {
			continue
		}
		info, err := os.Stat(filepath.Join(w.watch.Directory, name))
		if err != nil || !info.Mode().IsRegular() {
			// Gone since, which is nobody's fault; or a directory, or a pipe that
			// would be read for ever.
			continue
		}
		there[name] = true
		v := version{info.Size(), info.ModTime()}
		if known, ok := w.done[name]; ok && known.same(v) || now.Sub(v.Modified) < w.watch.Quiet && now.After(v.Modified) {
			continue
		}
		dealt, err := w.file(ctx, name, v)
		if err != nil {
			return err
		}
		if dealt {
			w.done[name] = v
			w.saveDone(ctx)
		}
	}
	w.forget(ctx, there)
	return nil
}

// forget drops the files that are no longer there.
func (w *watcher) forget(ctx context.Context, there map[string]bool) {
	dropped := false
	for name := range w.done {
		if !there[name] {
			delete(w.done, name)
			dropped = true
		}
	}
	for name := range w.waiting {
		if !there[name] {
			delete(w.waiting, name)
		}
	}
	if dropped {
		w.saveDone(ctx)
	}
}

func (w *watcher) saveDone(ctx context.Context) {
	// What was taken is taken, also where the receiver is being shut down.
	if err := w.checkpoint.save(context.WithoutCancel(ctx), watchKey, w.done); err != nil {
		w.logger.Error("The checkpoint cannot be written: after a restart, files may be taken in again", zap.Error(err))
	}
}

// file takes in one file and reports whether it is dealt with. The error is that of
// a receiver that is shut down.
func (w *watcher) file(ctx context.Context, name string, v version) (dealt bool, err error) {
	log := w.logger.With(zap.String("file", name))
	if !isTape(name) {
		w.countTape(fromWatch, unknown)
		log.Error("A file in the watched directory has a suffix that is none of a tape's, it is left where it is", zap.Strings("suffixes", suffixes))
		return true, nil
	}
	runs, err := w.open(name, v)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case errors.Is(err, errPartial):
		if !w.waiting[name].same(v) {
			log.Info("A tape is not whole yet, waiting for the rest", zap.Error(err))
			w.waiting[name] = v
		}
		return false, nil
	case errors.Is(err, errTooLarge):
		w.countTape(fromWatch, tooLarge)
		log.Error("A tape is too large, it is left where it is", zap.Error(err))
		return true, nil
	case isSyntax(err):
		w.countTape(fromWatch, invalid)
		log.Error("A file is no tape, it is left where it is", zap.Error(err))
		return true, nil
	case err != nil:
		w.countTape(fromWatch, failed)
		log.Error("A tape cannot be read, trying again at the next look", zap.Error(err))
		return false, nil
	}
	delete(w.waiting, name)
	var bad error
	for _, run := range runs {
		err := w.deliver(ctx, w.fromFiles, run.Traces)
		switch {
		case ctx.Err() != nil:
			return false, ctx.Err()
		case err != nil && !consumererror.IsPermanent(err):
			w.countTape(fromWatch, failed)
			log.Error("A tape was not taken, trying again at the next look", zap.String("trace_id", run.TraceID), zap.Error(err))
			return false, nil
		}
		bad = errors.Join(bad, err)
	}
	if bad != nil {
		w.countTape(fromWatch, refused)
		log.Error("A tape was refused, it is left where it is", zap.Error(bad))
		return true, nil
	}
	w.countTape(fromWatch, accepted)
	log.Info("A tape was taken in", zap.Int("runs", len(runs)))
	w.move(name, log)
	return true, nil
}

// move takes a file out of the way. Where that fails it stays and is remembered.
func (w *watcher) move(name string, log *zap.Logger) {
	if w.watch.MoveTo == "" {
		return
	}
	to := filepath.Join(w.watch.MoveTo, name)
	if _, err := os.Lstat(to); err == nil {
		// An earlier one of the same name is not to be lost.
		to += "." + strconv.FormatInt(time.Now().UnixNano(), 10)
	}
	if err := os.Rename(filepath.Join(w.watch.Directory, name), to); err != nil {
		log.Warn("A tape that was taken in cannot be moved, it is left where it is", zap.Error(err))
	}
}

func isTape(name string) bool {
	for _, suffix := range suffixes {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return false
}

// errPartial is a file of which the rest is still to come.
var errPartial = errors.New("the last line has no end")

func isSyntax(err error) bool {
	var syntax *tape.SyntaxError
	var corrupt flate.CorruptInputError
	return errors.As(err, &syntax) || errors.Is(err, tape.ErrEmpty) || errors.Is(err, errNoTape) ||
		errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.As(err, &corrupt)
}

// open reads a file to its end, which must be that of the version.
func (w *watcher) open(name string, v version) ([]ingest.Run, error) {
	file, err := os.Open(filepath.Join(w.watch.Directory, name))
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	var in io.Reader = file
	if strings.HasSuffix(name, ".gz") {
		if in, err = gzip.NewReader(file); err != nil {
			return nil, partial(err)
		}
	}
	bounded := &bounded{in: in, left: w.watch.MaxFileBytes}
	runs, err := w.parse(bounded, func() time.Time { return v.Modified })
	switch {
	case errors.Is(err, errTooLarge):
		return nil, err
	case errors.Is(err, tape.ErrTruncated), err == nil && bounded.last != '\n':
		// Also where what is there of the line happens to be a record.
		return nil, fmt.Errorf("%w: %d bytes so far", errPartial, bounded.read)
	case errors.Is(err, tape.ErrEmpty) && bounded.read == 0:
		return nil, fmt.Errorf("%w: it is empty so far", errPartial)
	}
	if err != nil {
		return nil, partial(err)
	}
	info, err := file.Stat()
	if err == nil && !v.same(version{info.Size(), info.ModTime()}) {
		// What was read belongs to a version that the next look will see.
		err = fmt.Errorf("%w: it changed while it was read", errPartial)
	}
	return runs, err
}

// partial says of a compressed file that ends early that it is not whole.
func partial(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: %w", errPartial, err)
	}
	return err
}

// bounded reads at most so many bytes and remembers the last of them.
type bounded struct {
	in         io.Reader
	read, left int64
	last       byte
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		// Is there more?
		if n, err := b.in.Read(make([]byte, 1)); n == 0 {
			return 0, err
		}
		return 0, fmt.Errorf("%w: over %d bytes", errTooLarge, b.read)
	}
	n, err := b.in.Read(p[:min(int64(len(p)), b.left)])
	if n > 0 {
		b.last = p[n-1]
		b.read, b.left = b.read+int64(n), b.left-int64(n)
	}
	return n, err
}
