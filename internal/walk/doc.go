// Package walk is the one walk over everything a trace or a batch of logs can
// hold: resource and scope with their schema URLs and entity references, names,
// status, trace state, severity, bodies, events, links and their attributes at
// any depth, member names included. Redaction, offload and tests share it, so
// that a field which one of them reaches is reached by all.
//
// A [Visitor] sees every string that stands outside of attributes through Text,
// every attribute name through Key and every attribute value, of whatever type
// and before what is inside it, through Value; each may be replaced in place.
// Trace, span and parent ids, times, flags and counts are not visited.
//
// The walk allocates nothing per span. Paths are built only when asked for.
// What is nested deeper than [MaxDepth] is shown to the visitor as a whole and
// not entered.
package walk
