// Package replay answers the calls of a program from a tape, so that a recorded
// run can be walked again without touching anything; it also makes tapes.
//
//	session, err := replay.Open("testdata/run.jsonl")
//	page, err := replay.Do(ctx, session, "fetch_doc", args, fetch)
//	...
//	err = session.Close() // nil only if the replay was clean
//
// Every call to the outside (a tool, a model, the clock, a random draw) goes
// through a [Session], with a function that really makes the call. Whether that
// function runs is the mode's decision: in [ModeStrict], the default, it never
// does.
//
// # Matching
//
// A call is matched by kind, tool and key, that is by what it asks for and never
// by its position. Identical calls get their recorded answers in recorded order.
// The verdict of a call is one of
//
//   - hit: the answer is on the tape, by its key or by a rule of the policy
//     ([WithRules]), which the answer then names; a recorded failure is an answer
//     too;
//   - exhausted: it was on the tape, but every answer has been given;
//   - drift: a record of the same tool has not been asked for, with other
//     arguments; the error names both, and each place where they differ;
//   - miss: nothing left on the tape could be this call;
//   - gap: it is on the tape, but its content was never captured or was cut;
//   - refused: it would have to run live, and may not.
//
// # Promises
//
//   - Nothing runs live unless the mode says so, or a [Live] that declares the
//     environment isolated and names the tool; also not when the tape is used up. What
//     ran live is counted and written to an audit log.
//   - A green replay means something: [Session.Close] fails for a verdict that
//     the program swallowed, and for records that it never asked for.
//   - Arguments are redacted before they are compared, recorded or shown, by the
//     policy that the tape carries, else by the default policy.
//   - What is recorded reaches the file line by line as calls complete, each in
//     one write, in the order in which the calls began.
//
// # Cost
//
// A hit costs a hash of its arguments and a look-up where they are spelled as on the
// tape, one key of them where spaces or the order of members differ, else a redaction
// and another key, whatever the length of the tape. Rules cost nothing where keys
// match; where one does not, masking the arguments, after masking those of the tool's
// records once. A session holds its tape without the bodies that are elsewhere, some
// 200 bytes a record beside it, and a bounded number of events of bounded length: ten
// million calls take no more memory than ten.
package replay
