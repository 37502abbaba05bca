package replay_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

// releaser publishes a release if CI passed.
type releaser struct {
	tools *replay.Session
	// passed is the gate.
	passed func(conclusion string) bool
	// prompt is what the model is asked, with the conclusion and the release.
	prompt string
	// ci is what CI says in the real world.
	ci string
}

// truthy is the bug: every conclusion is a text, and so "failure" passes.
func truthy(conclusion string) bool { return conclusion != "" }

func fixed(conclusion string) bool { return conclusion == "success" }

const prompt = "CI says %s. Write a note for %s."

func (r *releaser) run(ctx context.Context, ref string) (string, error) {
	type status struct {
		Conclusion string `json:"conclusion"`
	}
	ci, err := replay.Do(ctx, r.tools, "ci_status", args{"ref": ref}, func(context.Context) (status, error) {
		return status{r.ci}, nil
	})
	if err != nil {
		return "", err
	}
	if !r.passed(ci.Conclusion) {
		return "held back: CI says " + ci.Conclusion, nil
	}
	type reply struct {
		Message struct {
			Content string `json:"content"`
		} `json:"message"`
	}
	question := args{
		"messages": []args{{"role": "user", "content": fmt.Sprintf(r.prompt, ci.Conclusion, ref)}},
		"params":   args{"temperature": 0},
	}
	note, err := replay.Do(ctx, r.tools, "chat", question, func(context.Context) (note reply, err error) {
		note.Message.Content = ref + " is out."
		return note, nil
	}, replay.WithKind(tape.KindModel))
	if err != nil {
		return "", err
	}
	_, err = r.tools.Call(ctx, "publish", args{"ref": ref, "note": note.Message.Content}, func(context.Context) (any, error) {
		return args{"url": "https://example.com/" + ref}, nil
	}, replay.WithSideEffect(true))
	if err != nil {
		return "", err
	}
	return "published, CI says " + ci.Conclusion, nil
}

// A release was published although CI had failed. The tape of that run answers
// four questions, and each replay says which one it answered.
func Example_truthyGate() {
	ctx := context.Background()
	try := func(name string, session *replay.Session, code releaser) {
		code.tools = session
		did, err := code.run(ctx, "v1.4.0")
		if err != nil {
			var drift *replay.DriftError
			if errors.As(err, &drift) {
				did = fmt.Sprintf("stopped at step %d: %s", drift.Seq, drift.Differences[0])
			} else {
				did = err.Error()
			}
		}
		closed := session.Close()
		report := session.Report()
		fmt.Printf("%s (%s)\n  %s\n  really published: %v\n", name, report.Experiment, did, report.Stats.RealSideEffects > 0)
		if closed != nil {
			fmt.Println(" ", closed)
		}
	}
	open := func(options ...replay.Option) *replay.Session {
		session, err := replay.Open("testdata/gate.jsonl", options...)
		if err != nil {
			panic(err)
		}
		return session
	}

	// The recorded code on the recorded answers does the wrong thing again.
	try("historical run", open(replay.WithCodeVersion("1.0")), releaser{passed: truthy, prompt: prompt})

	// Asking the world again hides the bug: CI has passed by now.
	live, _ := replay.New(nil, replay.WithMode(replay.ModeRecord), replay.WithExperiment(replay.ChangedWorld))
	try("today's world", live, releaser{passed: truthy, prompt: prompt, ci: "success"})

	// The fixed gate meets the old observation and holds the release back. What
	// it no longer asks for is named: that is the fix, seen from the tape.
	try("fixed gate", open(replay.WithCodeVersion("1.1")), releaser{passed: fixed, prompt: prompt})

	// A changed prompt is not answered by what another prompt got.
	try("changed prompt", open(replay.WithCodeVersion("1.2")), releaser{passed: truthy, prompt: "CI: %s. Announce %s."})

	// Output:
	// historical run (historical)
	//   published, CI says failure
	//   really published: false
	// today's world (changed_world)
	//   published, CI says success
	//   really published: true
	// fixed gate (code_regression)
	//   held back: CI says failure
	//   really published: false
	//   the replay was not clean: 2 unconsumed: step 2 chat, step 3 publish
	// changed prompt (code_regression)
	//   stopped at step 2: messages[0].content "CI says failure. Write a note for v1.4.0." -> "CI: failure. Announce v1.4.0."
	//   really published: false
	//   the replay was not clean: 1 drift, 2 unconsumed: step 2 chat, step 3 publish
}
