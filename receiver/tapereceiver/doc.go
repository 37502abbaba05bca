//go:generate mdatagen metadata.yaml

// Package tapereceiver reads stored runs back as traces, so that a run can be looked
// at in any tracing backend, and makes traces of the tapes that plain recorders
// post or leave in a directory.
//
// Every run is sent at least once: what is remembered moves behind a run when the
// next component has taken it or refused it for good. What cannot be read is counted
// and named.
//
// It holds one run or one tape in memory at a time, and one more for each request
// that posts one.
package tapereceiver
