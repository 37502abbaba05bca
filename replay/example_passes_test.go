package replay_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/tapedeck/tapedeck/replay"
)

// agent is a chain of four tools. It touches the world in every step: the
// network, a search index, a model that is paid by the token, and the disk.
type agent struct {
	tools *replay.Session
	dir   string
	// maxWords is the setting that a change to the code changes.
	maxWords int
	// review adds a fifth step.
	review bool
	// world counts what really happened.
	world int
}

func (a *agent) run(ctx context.Context) (string, error) {
	page, err := replay.Do(ctx, a.tools, "fetch_doc", args{"url": "https://example.com/agent-long-task"}, a.fetch)
	if err != nil {
		// The degraded branch.
		return fmt.Sprintf("No document today (%v).", err), nil
	}
	hits, err := replay.Do(ctx, a.tools, "search", args{"query": "ledger", "limit": 2}, a.search)
	if err != nil {
		return "", err
	}
	summary, err := replay.Do(ctx, a.tools, "summarise", args{"text": page, "hits": hits, "max_words": a.maxWords}, a.summarise)
	if err != nil {
		return "", err
	}
	file := filepath.Join(a.dir, "report.md")
	report := args{"name": "report.md", "text": summary}
	write := func(context.Context) (int, error) { return len(summary), a.write(file, summary) }
	if _, err := replay.Do(ctx, a.tools, "write_report", report, write, replay.WithSideEffect(true)); err != nil {
		return "", err
	}
	if a.review {
		return replay.Do(ctx, a.tools, "review", args{"text": summary}, a.reviewed)
	}
	return summary, nil
}

type args map[string]any

func (a *agent) fetch(context.Context) (string, error) {
	a.world++
	return "Agents need a ledger.", nil
}

func (a *agent) search(context.Context) ([]string, error) {
	a.world++
	return []string{"ledgers", "tapes"}, nil
}

func (a *agent) summarise(context.Context) (string, error) {
	a.world++
	return "Keep a ledger.", nil
}

func (a *agent) reviewed(context.Context) (string, error) {
	a.world++
	return "Approved: keep a ledger.", nil
}

func (a *agent) write(file, text string) error {
	a.world++
	return os.WriteFile(file, []byte(text), 0o600)
}

// The five passes of a record-replay demonstration: record a chain of four
// tools; replay it without touching anything; catch a changed argument; let a
// new step run, once; and put a failure where none was recorded.
func Example_fivePasses() {
	ctx := context.Background()
	dir, _ := os.MkdirTemp("", "passes")
	defer func() { _ = os.RemoveAll(dir) }()
	tape := filepath.Join(dir, "run.jsonl")
	report := filepath.Join(dir, "report.md")
	quiet := replay.WithAuditLog(slog.New(slog.NewTextHandler(io.Discard, nil)))

	// Pass 1: record.
	session, _ := replay.Open(tape, replay.WithMode(replay.ModeRecord))
	recorder := &agent{tools: session, dir: dir, maxWords: 120}
	recorded, err := recorder.run(ctx)
	fmt.Printf("1 recorded  %q %v, closed: %v\n", recorded, err, session.Close())
	fmt.Println("           ", summary(session, recorder))
	_ = os.Remove(report)

	// Pass 2: replay. The answers are the same and the report is not written.
	session, _ = replay.Open(tape)
	again := &agent{tools: session, dir: dir, maxWords: 120}
	replayed, err := again.run(ctx)
	_, statErr := os.Stat(report)
	fmt.Printf("2 identical %v %v, report written: %v, closed: %v\n", replayed == recorded, err, statErr == nil, session.Close())
	fmt.Println("           ", summary(session, again))

	// Pass 3: the code changes an argument. The third step drifts.
	session, _ = replay.Open(tape)
	changed := &agent{tools: session, dir: dir, maxWords: 80}
	_, err = changed.run(ctx)
	var drift *replay.DriftError
	if errors.As(err, &drift) {
		d := drift.Differences[0]
		fmt.Printf("3 drift     step %d: %s -> %s\n", drift.Seq, drift.RecordedKey, drift.LiveKey)
		fmt.Printf("            %s: %s -> %s\n", d.Path, d.Recorded, d.Live)
	}
	fmt.Println("            closed:", session.Close())
	fmt.Println("           ", summary(session, changed))

	// Pass 4: the code gains a fifth step. Strictly that is a miss; with
	// replay+record it is exactly one live call, appended to the tape.
	session, _ = replay.Open(tape)
	longer := &agent{tools: session, dir: dir, maxWords: 120, review: true}
	_, err = longer.run(ctx)
	fmt.Println("4 strict   ", err)
	_ = session.Close()
	session, _ = replay.Open(tape, replay.WithMode(replay.ModeReplayRecord), quiet)
	longer = &agent{tools: session, dir: dir, maxWords: 120, review: true}
	reviewed, err := longer.run(ctx)
	fmt.Printf("  extended  %q %v, closed: %v\n", reviewed, err, session.Close())
	fmt.Println("           ", summary(session, longer))

	// Pass 5: what if the first step had answered 500? The run goes down its
	// degraded branch, with no side effect; the close names what it never asked.
	session, _ = replay.Open(tape, replay.OverrideStep(1, replay.AnswerError("500", "upstream is down")))
	degraded := &agent{tools: session, dir: dir, maxWords: 120, review: true}
	fallback, err := degraded.run(ctx)
	fmt.Printf("5 override  %q %v\n", fallback, err)
	fmt.Println("            closed:", session.Close())
	fmt.Println("           ", summary(session, degraded))

	// Output:
	// 1 recorded  "Keep a ledger." <nil>, closed: <nil>
	//             steps 4, hits 0, misses 0, drift 0, live 4, side effects 1, world touched 4 times
	// 2 identical true <nil>, report written: false, closed: <nil>
	//             steps 4, hits 4, misses 0, drift 0, live 0, side effects 0, world touched 0 times
	// 3 drift     step 3: summarise:8025fbc75d49 -> summarise:ce0373f79918
	//             max_words: 120 -> 80
	//             closed: the replay was not clean: 1 drift, 2 unconsumed: step 3 summarise, step 4 write_report
	//             steps 3, hits 2, misses 0, drift 1, live 0, side effects 0, world touched 0 times
	// 4 strict    miss: call 5: review:7c3bce431bb8 is not on the tape
	//   extended  "Approved: keep a ledger." <nil>, closed: <nil>
	//             steps 5, hits 4, misses 1, drift 0, live 1, side effects 0, world touched 1 times
	// 5 override  "No document today (500: upstream is down)." <nil>
	//             closed: the replay was not clean: 4 unconsumed: step 2 search, step 3 summarise, step 4 write_report, …
	//             steps 1, hits 1, misses 0, drift 0, live 0, side effects 0, world touched 0 times
}

func summary(s *replay.Session, a *agent) string {
	st := s.Stats()
	return strings.Join([]string{
		fmt.Sprint("steps ", st.Steps), fmt.Sprint("hits ", st.TapeHits), fmt.Sprint("misses ", st.TapeMisses),
		fmt.Sprint("drift ", st.DriftEvents), fmt.Sprint("live ", st.LiveToolCalls),
		fmt.Sprint("side effects ", st.RealSideEffects), fmt.Sprintf("world touched %d times", a.world),
	}, ", ")
}
