// Package buffer holds the spans of runs that are not decided yet, or were
// decided a short while ago.
//
// A run is a list of chunks, each an OTLP protobuf ExportTraceServiceRequest as
// it was marshalled on arrival: the buffer never sees pdata, so nothing of a
// request outlives the call that brought it. What decides when a run is over
// lives elsewhere (package recorder); a buffer only keeps bytes by trace id and
// knows how many it holds.
package buffer

import "errors"

// ID is a trace id.
type ID = [16]byte

// ErrFull is returned by Append when the buffer cannot take the chunk at all,
// also not after everything else was dropped.
var ErrFull = errors.New("buffer: full")

// Buffer keeps chunks by run. Its methods are safe for concurrent use; calls
// for one run come in the order the caller makes them.
type Buffer interface {
	// Append adds a chunk to the end of a run, which need not exist. The buffer
	// owns the chunk from then on.
	Append(id ID, chunk []byte) error
	// Load returns the run's chunks in the order of their arrival, none when it
	// is unknown. The caller must not change them.
	Load(id ID) ([][]byte, error)
	// Drop forgets a run and returns the bytes that were freed.
	Drop(id ID) int64
	// Bytes is what the buffer holds, with its own overhead.
	Bytes() int64
	// Close releases what the buffer holds.
	Close() error
}
