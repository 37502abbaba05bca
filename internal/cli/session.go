package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/internal/serve"
	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

// sessionFlags say how a tape is replayed to another program, and where the
// report goes.
type sessionFlags struct {
	mode, order, completion, codeVersion, report string
	kinds                                        []string
	failExpired, failRedacted, asJSON            bool
	rules                                        []string
	speed                                        float64
	mcpTools                                     string
	unserved                                     []string
	noHooks, noProxy, failElsewhere              bool
	modelHosts                                   []string
	bodies                                       string
}

func (f *sessionFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.mode, "mode", "strict", "strict is the only mode for other programs: nothing can run live from here")
	flags.StringVar(&f.order, "order", "content", "content accepts calls in any order, strict only in the recorded one")
	flags.StringVar(&f.completion, "completion", "free", "free answers at once, recorded lets calls complete as recorded")
	flags.StringSliceVar(&f.kinds, "kind", nil, "replay records of these kinds only (tool, model, clock, random); all others are as if not on the tape")
	flags.StringVar(&f.codeVersion, "code-version", "", "version of the code that calls, for the report")
	flags.BoolVar(&f.failExpired, "fail-expired", false, "treat records past their expiry as gaps")
	flags.BoolVar(&f.failRedacted, "fail-redacted", false, "treat records with a placeholder in their answer as gaps")
	rulesFlag(cmd, &f.rules)
	bodiesFlag(cmd, &f.bodies)
	flags.StringVar(&f.report, "report", "", "file to write the report to, as JSON")
	flags.StringVar(&f.mcpTools, "mcp-tools", "", "file with the definitions that MCP clients are given, in place of the tape's")
	flags.Float64Var(&f.speed, "speed", 0, "how fast models answer: 1 as when they were recorded, 2 twice as fast; 0 at once")
	flags.StringSliceVar(&f.unserved, "allow-unserved", nil, "tools that models may ask for and that need not be answered from the tape, by name")
	jsonFlag(cmd, &f.asJSON)
}

// addHooks is for verbs that run a command.
func (f *sessionFlags) addHooks(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.noProxy, "no-proxy", false, "leave the proxy and the trusted authorities of the command as they are: what it asks of other servers goes out")
	cmd.Flags().StringSliceVar(&f.modelHosts, "model-host", nil, "hosts of models beside the known ones, such as a gateway's; *.example.com is all below")
	cmd.Flags().BoolVar(&f.failElsewhere, "fail-elsewhere", false, "let requests to hosts that the tape knows nothing of make the replay unclean")
	cmd.Flags().BoolVar(&f.noHooks, "no-hooks", false, "do not answer the in-process tools of agent frameworks (Python, Node) from the tape")
}

// surrogateKeyEnv names the key of keyed surrogates. It is no flag, because the
// words of a command can be read by everybody.
const surrogateKeyEnv = "TAPE_SURROGATE_KEY"

// open starts the session over the tape in a file, with more options than the flags
// say.
func (a *app) open(path string, f *sessionFlags, more ...replay.Option) (*replay.Session, error) {
	mode, err := replay.ParseMode(f.mode)
	if err != nil {
		return nil, usage("--mode: %w", err)
	}
	if mode != replay.ModeStrict {
		return nil, usage("--mode %s: another program's calls can be answered, not run: use strict, or record in the program with package replay", mode)
	}
	order, err := replay.ParseOrder(f.order)
	if err != nil {
		return nil, usage("--order: %w", err)
	}
	completion, err := replay.ParseCompletion(f.completion)
	if err != nil {
		return nil, usage("--completion: %w", err)
	}
	if !(f.speed >= 0) {
		return nil, usage("--speed %v: want 0 or more", f.speed)
	}
	if f.report != "" {
		// Not after the command ran, which may have taken an hour.
		if err := a.checkOutput(f.report); err != nil {
			return nil, usage("--report: %w", err)
		}
	}
	options := []replay.Option{
		replay.WithMode(mode), replay.WithOrder(order), replay.WithCompletion(completion, 0), replay.WithCodeVersion(f.codeVersion),
		replay.WithSurrogateKey(os.Getenv(surrogateKeyEnv)), replay.WithUnserved(f.unserved...),
	}
	kinds, err := kindsFlag(f.kinds)
	if err != nil {
		return nil, err
	}
	options = append(options, replay.WithKinds(kinds...))
	if f.failRedacted {
		options = append(options, replay.WithRedactedAsGap())
	}
	declared, err := readRulesFlag(f.rules)
	if err != nil {
		return nil, err
	}
	options = append(options, replay.WithRules(declared))
	if f.failElsewhere {
		options = append(options, replay.WithElsewhereUnclean())
	}
	if f.failExpired {
		options = append(options, replay.WithExpiredAsGap())
	}
	options = append(append(options, serve.Options()...), more...)
	if path == "-" {
		return nil, usage("the tape must be a file, not standard input")
	}
	file, err := findTape(path)
	if err != nil {
		return nil, err
	}
	bodies, err := a.bodiesOf(file, f.bodies)
	if err != nil {
		return nil, err
	}
	session, err := file.open(append(options, replay.WithBodies(bodies)))
	if errors.Is(err, redact.ErrKeyNeeded) || errors.Is(err, redact.ErrKeyWrong) {
		return nil, usage("%w: set %s to the key of the processor's redaction", err, surrogateKeyEnv)
	}
	if errors.Is(err, os.ErrNotExist) {
		if id, idErr := traceID(path); idErr == nil {
			return nil, usage("%s is not a file; tape pull %s -o FILE makes one", path, id)
		}
	}
	return session, err
}

// finish ends a session and reports on it. The error is for a replay that was
// not clean.
func (a *app) finish(s *replay.Session, f *sessionFlags) error {
	unclean := s.Close()
	report := s.Report()
	text, err := marshal(report)
	if err != nil {
		return err
	}
	if f.report != "" {
		err = a.output(f.report, func(w io.Writer) error { _, err := w.Write(text); return err })
	}
	if !f.asJSON {
		text = []byte(cleanLines(report.Text()))
	}
	if _, werr := a.Err.Write(text); err == nil {
		err = werr
	}
	switch {
	case unclean == nil:
		return err
	case !errors.Is(unclean, replay.ErrUnclean):
		return errors.Join(err, unclean)
	case err != nil:
		return &exitError{exitNo, errors.Join(unclean, err)}
	case f.asJSON:
		// One more line would not be JSON.
		return &exitError{code: exitNo}
	case onlyModelsLeft(report):
		return &exitError{exitNo, fmt.Errorf("%w; --kind tool leaves model calls out", unclean)}
	}
	return &exitError{exitNo, unclean}
}

// onlyModelsLeft reports whether all that is wrong is that no model call of the
// tape was asked for: so it is with every agent that goes on asking its model.
func onlyModelsLeft(r *replay.Report) bool {
	st := r.Stats
	return st.Unconsumed > 0 && st.DriftEvents+st.TapeMisses+st.Exhausted+st.Gaps == 0 &&
		!slices.ContainsFunc(r.Unconsumed, func(u replay.Unconsumed) bool { return u.Kind != tape.KindModel })
}

// cleanLines is clean for text of several lines.
func cleanLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = clean(lines[i])
	}
	return strings.Join(lines, "\n")
}
