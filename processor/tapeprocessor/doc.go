//go:generate mdatagen metadata.yaml

// Package tapeprocessor is the processor "tape": it decides about agent runs and
// hands on failed ones whole, all others as one summary span. The work is done by
// internal/recorder; this package connects it to a collector.
package tapeprocessor
