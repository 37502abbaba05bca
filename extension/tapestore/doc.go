//go:generate mdatagen metadata.yaml

// Package tapestore is the extension through which all Tapedeck components of
// a collector share one store.
//
// It opens the store when it starts, so that a directory that cannot be written
// stops the collector with one line, and gives it to whoever asks through
// [FromHost]. It also knows what belongs to no single component: the class that
// takes a kept run, and which runs are still open in a processor.
package tapestore
