package store

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"time"
)

// DefaultMaxObject bounds the plain length of a fragment or a blob.
const DefaultMaxObject = 256 << 20

// Options adjust a store. The zero value is good.
type Options struct {
	// Writer names this process in the names of index files. No two processes
	// that live at the same time may share one; "" is a random name.
	Writer string
	// MaxObject bounds the plain length of a fragment or a blob in bytes; 0 is
	// DefaultMaxObject.
	MaxObject int64
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
	index   index
	now     func() time.Time
	damaged func(name string, err error)
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
	return &Store{
		backend: backend,
		codec:   codec,
		index:   newJSONL(backend, opts.Writer, opts.OnDamaged),
		now:     opts.Now,
		damaged: opts.OnDamaged,
	}, nil
}

// Close frees the store's memory. The backend is the caller's.
func (s *Store) Close() {
	s.codec.close()
}

func randomWriter() string {
	var raw [6]byte
	_, _ = rand.Read(raw[:]) // never fails
	return hex.EncodeToString(raw[:])
}
