//go:generate mdatagen metadata.yaml

// Package tapeexporter writes runs into the tape store and serves them over
// HTTP.
//
// It is a shell: what is written and how is internal/store/archive, what is
// answered is internal/api.
package tapeexporter
