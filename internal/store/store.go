package store

import (
	"container/list"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"time"
)

// DefaultMaxObject bounds the plain length of a fragment or a blob.
const DefaultMaxObject = 256 << 20

// DefaultFlushRows is how many rows of one process and hour come to one file of
// the index.
const DefaultFlushRows = 10_000

// Options adjust a store. The zero value is good.
type Options struct {
	// Writer names this process in the names of index files. No two processes
	// that live at the same time may share one; "" is a random name.
	Writer string
	// MaxObject bounds the plain length of a fragment or a blob in bytes; 0 is
	// DefaultMaxObject.
	MaxObject int64
	// Journal is where rows wait to be written to the index. With nil it is the
	// backend itself where that can append; where it cannot, each call that adds
	// rows writes a file.
	Journal JournalBackend
	// FlushRows is how many rows a journal takes; 0 is DefaultFlushRows.
	FlushRows int
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// OnDamaged is told of each object that could not be read for what its name
	// says, and why. It may be called from several goroutines.
	OnDamaged func(name string, err error)
}

// Store reads and writes the layout over a backend. It is safe for concurrent
// use.
type Store struct {
	backend Backend
	codec   *codec
	index   *index
	now     func() time.Time
	damaged func(name string, err error)
	// known are objects of the kinds that many runs share.
	known       *known
	tapeClasses *classes
	tenants     *tenants
}

// Open makes a store over a backend. It does not touch the backend.
func Open(backend Backend, opts Options) (*Store, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.OnDamaged == nil {
		opts.OnDamaged = func(string, error) {}
	}
	if opts.MaxObject == 0 {
		opts.MaxObject = DefaultMaxObject
	}
	if opts.MaxObject < 0 {
		return nil, errors.New("the largest object of a store cannot be negative")
	}
	if opts.FlushRows == 0 {
		opts.FlushRows = DefaultFlushRows
	}
	if opts.FlushRows < 0 {
		return nil, errors.New("the rows of a journal cannot be negative")
	}
	if opts.Writer == "" {
		opts.Writer = randomWriter()
	}
	if err := checkSegment(opts.Writer); err != nil {
		return nil, err
	}
	codec, err := newCodec(opts.MaxObject)
	if err != nil {
		return nil, err
	}
	s := newStore(backend, codec, &opts)
	s.tenants = &tenants{root: s, opts: opts, order: list.New(), open: map[string]*list.Element{}}
	return s, nil
}

func newStore(backend Backend, codec *codec, opts *Options) *Store {
	return &Store{
		backend: backend,
		codec:   codec,
		index:   newIndex(backend, opts),
		now:     opts.Now,
		damaged: opts.OnDamaged,

		known:       newKnown(opts.Now),
		tapeClasses: &classes{backend: backend, folder: tapesFolder, now: opts.Now},
	}
}

// Close frees the memory of the store and of those of its tenants, which are not
// closed by themselves. The backend is the caller's.
func (s *Store) Close() {
	if s == s.tenants.root {
		s.codec.close()
	}
}

func randomWriter() string {
	var raw [6]byte
	_, _ = rand.Read(raw[:]) // never fails
	return hex.EncodeToString(raw[:])
}
