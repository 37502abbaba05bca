// Package load makes the spans of agents to measure collectors with, and sends
// them as fast as they are taken.
//
// There are two loads. Rich is what agents write with content captured: every
// model call carries the whole conversation so far, in the names of the
// OpenTelemetry GenAI conventions, and the sizes of tool results are log-normal
// (median 600 B, 95th percentile 9 KB, at most 110 KB). Light is what they write
// without content: spans of 535 B. The text comes from real traces, see corpus.
//
// The same seed makes the same runs, however many lanes share them. The root span
// of a run comes last, the runs of a lane are interleaved, and one in ten fails.
//
// Spans are written in the wire format directly and conversations are copied, not
// made again, so that making and sending a load costs little beside receiving it.
// What is held is the conversations of the open runs and one request a lane.
package load
