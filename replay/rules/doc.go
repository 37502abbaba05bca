// Package rules holds what a replay may take for the same although it differs:
// an explicit policy, written by people, read from a file and printed in every
// report.
//
//	rules:
//	  - path: request_id
//	    match: uuid
//	  - tool: get_*
//	    path: window.**
//	    match: time
//	    within: 5m
//	model:
//	  params: [temperature]
//
// A [Policy] is compiled into a [Set], which has a [Matcher] for each kind and
// tool that a rule is about. The matcher masks canonical arguments: what rules
// take for the same becomes the same, so that records are found by a hash of what
// is left, however many there are; what a mask cannot decide, tolerances and ids,
// is compared value by value.
//
// # Promises
//
//   - No rule, no effect: a matcher is nil where no rule applies.
//   - A rule takes two values for the same only if both are of its type.
//   - Ids correspond one to one within their namespace, over a whole session.
//   - A bad policy is refused with its file, line and rule.
//
// # Cost
//
// Masking is one pass over the canonical text, with an allocation for each value
// that has to be compared afterwards.
package rules
