package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/tapedeck/tapedeck/replay"
)

// openTerminal opens the terminal to ask on: the streams of the process belong to
// the command that is run.
var openTerminal = func() (io.ReadWriteCloser, error) { return os.OpenFile("/dev/tty", os.O_RDWR, 0) }

// worldOptions are the options of a trial, with the break that asks on the
// terminal.
func (a *app) worldOptions(world *worldFlags, trial int) ([]replay.Option, error) {
	options, err := world.options(trial)
	if err != nil || world.breakAt == 0 {
		return options, err
	}
	terminal, err := openTerminal()
	if err != nil {
		return nil, usage("--break asks on the terminal, and there is none: %w", err)
	}
	b := &breaker{in: bufio.NewReader(terminal), out: terminal}
	// It stays open as long as the process: a call may break until its very end.
	return append(options, replay.WithBreak(world.breakAt, b.ask)), nil
}

// breaker asks a person what to do with a call.
type breaker struct {
	in  *bufio.Reader
	out io.Writer
}

const breakHelp = `  c or Enter            answer this call and go on
  n                     answer this call and stop at the next
  r JSON                answer with this result instead
  e CODE [MESSAGE]      answer with this failure instead
  q                     quit: no call is answered any more
`

// ask shows a break and reads what to do; the end of the input quits.
func (b *breaker) ask(_ context.Context, at replay.Break) replay.Action {
	_, _ = io.WriteString(b.out, cleanLines(breakText(at)))
	for {
		_, _ = io.WriteString(b.out, "continue, next, result, error, quit? ")
		line, err := b.in.ReadString('\n')
		if err != nil && line == "" {
			return replay.Quit()
		}
		action, ok := breakAction(strings.TrimSpace(line))
		if ok {
			return action
		}
		_, _ = io.WriteString(b.out, breakHelp)
	}
}

// breakAction reads one line, false if it says nothing that can be done.
func breakAction(line string) (replay.Action, bool) {
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch word {
	case "", "c", "continue":
		return replay.Continue(), rest == ""
	case "n", "next":
		return replay.Next(), rest == ""
	case "q", "quit":
		return replay.Quit(), rest == ""
	case "r", "result":
		return replay.Instead(replay.AnswerResult(json.RawMessage(rest))), json.Valid([]byte(rest))
	case "e", "error":
		code, message, _ := strings.Cut(rest, " ")
		return replay.Instead(replay.AnswerError(code, strings.TrimSpace(message))), code != ""
	}
	return replay.Action{}, false
}

// mostShown bounds what is shown of arguments and answers, in bytes.
const mostShown = 2000

func breakText(at replay.Break) string {
	var b strings.Builder
	step := "no step"
	if at.Seq > 0 {
		step = fmt.Sprintf("step %d", at.Seq)
	}
	fmt.Fprintf(&b, "\nbreak at %s, call %d: %s, %s\n", step, at.Call, at.Tool, at.Key)
	for _, done := range at.Answered {
		failed := ""
		if done.Failed {
			failed = ", failed"
		}
		fmt.Fprintf(&b, "  before   call %d: step %d, %s%s\n", done.Call, done.Seq, done.Key, failed)
	}
	fmt.Fprintf(&b, "  so far   hits %d, misses %d, drift %d, live %d; %d records left\n",
		at.Stats.TapeHits, at.Stats.TapeMisses, at.Stats.DriftEvents, at.Stats.LiveToolCalls, at.Stats.Unconsumed)
	fmt.Fprintf(&b, "  args     %s\n", shown(at.Args))
	switch {
	case at.Verdict != nil:
		fmt.Fprintf(&b, "  verdict  %s\n", at.Verdict)
	case at.Error != nil:
		fmt.Fprintf(&b, "  failure  %s %s %s\n", at.Error.Code, at.Error.Type, at.Error.Message)
		fmt.Fprintf(&b, "  result   %s\n", shown(at.Result))
	default:
		fmt.Fprintf(&b, "  result   %s\n", shown(at.Result))
	}
	return b.String()
}

// shown is JSON in one line, cut where it is long.
func shown(text json.RawMessage) string {
	if len(text) == 0 {
		return "null"
	}
	var b bytes.Buffer
	if json.Compact(&b, text) != nil {
		b.Reset()
		b.Write(text)
	}
	if b.Len() > mostShown {
		return strings.ToValidUTF8(b.String()[:mostShown], "") + fmt.Sprintf("… (%d bytes)", b.Len())
	}
	return b.String()
}
