package replay

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tapedeck/tapedeck/tape"
)

// Live says which calls of a replay may really run. The zero value lets none.
type Live struct {
	// Isolated declares that the environment is cut off from the accounts and data
	// that a replay must not change. Without it nothing runs.
	Isolated bool `json:"isolated"`
	// Tools may run, by their names. A recorded approval is no permission.
	Tools []string `json:"tools,omitempty"`
	// Kinds of calls that may run beside them, whatever their name: model, clock
	// and random.
	Kinds []tape.Kind `json:"kinds,omitempty"`
	// SideEffects lets those of the Tools run too that have side effects, or of
	// which nobody knows whether they have.
	SideEffects bool `json:"side_effects"`
	// Substitution replaces accounts and tenants in the arguments that a call runs
	// with. It names real accounts and is left out of reports.
	Substitution Substitution `json:"-"`
}

// ErrRefused says that the call would have to run live and may not.
var ErrRefused = errors.New("refused to run live")

// RefusedError is a call that would have to run live and may not.
type RefusedError struct {
	Call int
	Kind tape.Kind
	Tool string
	Key  string
	// Why is a sentence that says what to do.
	Why string
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("refused: call %d: %s does not run live: %s", e.Call, e.Key, e.Why)
}

// Is finds [ErrRefused].
func (e *RefusedError) Is(target error) bool { return target == ErrRefused }

// VerdictRefused is the verdict on a call that may not run live.
const VerdictRefused Verdict = "refused"

const notIsolated = "the environment is not declared isolated: say --isolated (Live.Isolated) where calls can reach nothing that must not change"

// Refuse says in a sentence why a call may not run and what to do about it, ""
// if it may. The clock and random draws, which touch nothing, may run wherever
// anything may.
func (l *Live) Refuse(kind tape.Kind, tool string, sideEffect *bool) string {
	switch {
	case !l.Isolated:
		return notIsolated
	case kind == tape.KindClock || kind == tape.KindRandom || slices.Contains(l.Kinds, kind):
		return ""
	case kind != tape.KindTool:
		return fmt.Sprintf("%s calls are not allowed to run: allow them with --allow-kind %s (Live.Kinds)", kind, kind)
	case !slices.Contains(l.Tools, tool):
		return fmt.Sprintf("the tool is not allowed by name: say --allow %s (Live.Tools)", tool)
	case l.SideEffects || sideEffect != nil && !*sideEffect:
		return ""
	case sideEffect == nil:
		return "nobody knows whether the tool has side effects: say --allow-side-effects (Live.SideEffects) if it may have some"
	}
	return "the tool has side effects: say --allow-side-effects (Live.SideEffects) if it may"
}

// Chosen reports whether such calls are to run live rather than be answered.
func (l *Live) Chosen(kind tape.Kind, tool string) bool {
	return slices.Contains(l.Kinds, kind) || kind == tape.KindTool && slices.Contains(l.Tools, tool)
}

func (l *Live) check() error {
	if !l.Isolated {
		return fmt.Errorf("%w: %s", ErrRefused, notIsolated)
	}
	for _, kind := range l.Kinds {
		if kind == tape.KindTool {
			return errors.New("tool calls run live by their names, not by their kind")
		}
		if !slices.Contains(tape.Kinds, kind) {
			return fmt.Errorf("unknown kind %q", kind)
		}
	}
	return l.Substitution.check()
}

// text says for people what might run.
func (l *Live) text(fork, asides int) string {
	from := "live"
	if fork > 0 {
		from = fmt.Sprintf("live from step %d on", fork)
	}
	what := slices.Clone(l.Tools)
	for _, kind := range l.Kinds {
		what = append(what, string(kind)+" calls")
	}
	effects := "no side effects"
	if l.SideEffects {
		effects = "side effects allowed"
	}
	if len(what) == 0 {
		what = []string{"nothing"}
	}
	return fmt.Sprintf("%s: %s; %s; %d records set aside", from, strings.Join(what, ", "), effects, asides)
}
