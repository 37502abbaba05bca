// Command compare measures Tapedeck beside the chain of collector components that is
// usually put together for the same end, and prints one table of one run.
//
//	compare [-short] [-gzip=false] [-bin DIR] [-ocb FILE] [-work DIR] [-doc FILE] [-only NAME,…]
//
// For each load (see package load) and each collector: a fresh process is started,
// the load is sent as fast as it is accepted, and once every span is stored the
// process is asked what it used. The collectors are
//
//   - bare: otlp to nop, the floor
//   - usual: tail_sampling, redaction, file
//   - groupbytrace: groupbytrace, redaction, file
//   - tapedeck: the distribution in -bin, every run kept
//
// The usual components are built by ocb, in a module of their own under -work, from
// the manifest in config. Linux only: processor time and memory are read in /proc.
package main
