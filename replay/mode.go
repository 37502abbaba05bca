package replay

import "fmt"

// Mode says what a session does with a call that the tape does not answer.
type Mode int

const (
	// ModeStrict answers from the tape alone. Everything but a hit is an error,
	// nothing ever runs, and records that were never asked for make
	// [Session.Close] fail. It is the mode for tests and for finding out why a
	// run failed.
	ModeStrict Mode = iota
	// ModeReplayRecord answers from the tape what the tape has. A call that it
	// never had, or has no more answers for, runs live once and is appended. A
	// call that comes close to a record but differs (drift), and one whose
	// recorded answer was never captured (gap), are still errors: running them
	// live would hide that something changed. It is the mode for extending a
	// tape by the steps that new code adds.
	ModeReplayRecord
	// ModeRecord runs every call live and appends it; the tape is not consulted.
	// It is the mode for making a tape in the first place.
	ModeRecord
)

var modeNames = []string{"strict", "replay+record", "record"}

func (m Mode) String() string { return nameOf(modeNames, int(m)) }

// ParseMode reads "strict", "replay+record" or "record".
func ParseMode(name string) (Mode, error) {
	i, err := parseName("mode", modeNames, name)
	return Mode(i), err
}

// MarshalText gives the name.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText is [ParseMode].
func (m *Mode) UnmarshalText(text []byte) (err error) {
	*m, err = ParseMode(string(text))
	return err
}

// Order says whether calls must arrive in recorded order.
type Order int

const (
	// OrderContent accepts calls in any order: what a call asks for selects its
	// answer. Calls that arrive before one that had ended when they were
	// recorded are counted as reordered.
	OrderContent Order = iota
	// OrderStrict accepts only the next record that was not asked for, and
	// calls anything else a divergence.
	OrderStrict
)

var orderNames = []string{"content", "strict"}

func (o Order) String() string { return nameOf(orderNames, int(o)) }

// ParseOrder reads "content" or "strict".
func ParseOrder(name string) (Order, error) {
	i, err := parseName("order", orderNames, name)
	return Order(i), err
}

// MarshalText gives the name.
func (o Order) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText is [ParseOrder].
func (o *Order) UnmarshalText(text []byte) (err error) {
	*o, err = ParseOrder(string(text))
	return err
}

// Completion says in which order concurrent calls get their answers.
type Completion int

const (
	// CompletionFree answers every call at once.
	CompletionFree Completion = iota
	// CompletionRecorded holds answers back so that calls complete in the order
	// in which they completed when they were recorded. A call is not held back
	// for longer than the guard of [WithCompletion]: changed code may never make
	// the call it waits for.
	CompletionRecorded
)

var completionNames = []string{"free", "recorded"}

func (c Completion) String() string { return nameOf(completionNames, int(c)) }

// ParseCompletion reads "free" or "recorded".
func ParseCompletion(name string) (Completion, error) {
	i, err := parseName("completion", completionNames, name)
	return Completion(i), err
}

// MarshalText gives the name.
func (c Completion) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText is [ParseCompletion].
func (c *Completion) UnmarshalText(text []byte) (err error) {
	*c, err = ParseCompletion(string(text))
	return err
}

// Experiment says which question a replay answers.
type Experiment string

const (
	// Historical is recorded code, recorded answers. Does it fail as it failed?
	Historical Experiment = "historical"
	// CodeRegression is changed code, recorded answers. Does it handle them now?
	CodeRegression Experiment = "code_regression"
	// ChangedWorld is recorded requests, live answers. What does today's world say?
	ChangedWorld Experiment = "changed_world"
	// Fork is a recorded prefix, live from some step on. What would have happened?
	Fork Experiment = "fork"
	// Recording is no replay, there being nothing to compare with.
	Recording Experiment = "recording"
)

var experiments = []Experiment{Historical, CodeRegression, ChangedWorld, Fork, Recording}

func nameOf(names []string, i int) string {
	if i < 0 || i >= len(names) {
		return fmt.Sprintf("unknown(%d)", i)
	}
	return names[i]
}

func parseName(what string, names []string, name string) (int, error) {
	for i, known := range names {
		if name == known {
			return i, nil
		}
	}
	return 0, fmt.Errorf("unknown %s %q, want one of %q", what, name, names)
}
