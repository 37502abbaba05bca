// Package triage puts together what is to be known about a failed run: what was in
// force, whether it can be replayed, what a replay did, how it differs from the last
// good run and from the tools of now, why it failed, and what to do next.
//
//	triage.go   the report, made of the reports of others
//	force.go    what was in force when the run was made
//	next.go     the commands to type next
//	save.go     the tape as a case of a regression set
//
// It starts nothing: a replay that was made is given to it. It costs one dry replay,
// one attribution and, where there is a good run, one comparison.
package triage
