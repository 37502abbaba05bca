//go:generate mdatagen metadata.yaml

// Package tapereceiver reads stored runs back as traces, with their original
// ids and times and their bodies, so that a run can be looked at in any tracing
// backend.
//
// It holds one run in memory at a time.
package tapereceiver
