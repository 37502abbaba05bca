package replay

import (
	"errors"
	"fmt"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/tapedeck/tapedeck/internal/yamlfile"
	"github.com/tapedeck/tapedeck/tape"
)

// target is what an override is about: one of its members is set.
type target struct {
	seq       int
	key, tool string
}

func (t target) String() string {
	switch {
	case t.seq != 0:
		return fmt.Sprintf("step %d", t.seq)
	case t.key != "":
		return "key " + t.key
	}
	return "tool " + t.tool
}

// override is a substitute in its place. It is guarded by its session.
type override struct {
	target
	Substitute
	applied int
}

// overrides are those of a session. Of several that fit, the narrower one
// applies, and of equals the one that was given first and is not used up.
type overrides struct {
	all []*override
	at  map[target][]*override
}

func (o *overrides) add(at target, answer Substitute) error {
	if err := answer.check(); err != nil {
		return fmt.Errorf("override of %s: %w", at, err)
	}
	if o.at == nil {
		o.at = map[target][]*override{}
	}
	added := &override{target: at, Substitute: answer}
	o.all = append(o.all, added)
	o.at[at] = append(o.at[at], added)
	return nil
}

// find returns the override of a step, nil if there is none. The session's lock
// is held.
func (o *overrides) find(st *step) *override {
	if len(o.all) == 0 {
		return nil
	}
	for _, at := range []target{{seq: st.seq}, {key: st.key}, {tool: st.record.Tool}} {
		for _, found := range o.at[at] {
			if found.times == 0 || found.applied < found.times {
				return found
			}
		}
	}
	return nil
}

// check refuses overrides of what is not on the tape: they would change
// nothing, and the replay would look as if they had.
func (o *overrides) check(d *deck) error {
	if len(o.all) == 0 {
		return nil
	}
	there := map[target]bool{}
	for i := range d.steps {
		st := &d.steps[i]
		there[target{seq: st.seq}], there[target{key: st.key}], there[target{tool: st.record.Tool}] = true, true, true
	}
	for _, over := range o.all {
		switch {
		case there[over.target]:
		case over.seq != 0:
			return fmt.Errorf("override of step %d: there is no such step", over.seq)
		case over.key != "":
			return fmt.Errorf("override of %s: no record has this key", over.key)
		default:
			return fmt.Errorf("override of %s: no record is of this tool", over.tool)
		}
	}
	return nil
}

// idle lists the overrides that never applied.
func (o *overrides) idle() (list []IdleOverride) {
	for _, over := range o.all {
		if over.applied == 0 && len(list) < maxListed {
			list = append(list, IdleOverride{over.String(), over.what()})
		}
	}
	return list
}

// Overridden is an answer that was replaced or spoilt.
type Overridden struct {
	Call int    `json:"call"`
	Seq  int    `json:"seq"`
	Tool string `json:"tool"`
	// Of says which override it was, such as "step 3"; What it did, such as
	// "error 500, delay 2s".
	Of   string `json:"of"`
	What string `json:"what"`
}

// IdleOverride is an override that never applied, because what it is about was
// not asked for, or another came first.
type IdleOverride struct {
	Of   string `json:"of"`
	What string `json:"what"`
}

// overrideFile is a file of overrides as it is written.
type overrideFile struct {
	Overrides []overrideEntry `yaml:"overrides"`
}

type overrideEntry struct {
	Step int    `yaml:"step"`
	Key  string `yaml:"key"`
	Tool string `yaml:"tool"`

	// Result is a node, since null is a result too.
	Result    yaml.Node      `yaml:"result"`
	Error     *overrideError `yaml:"error"`
	Delay     time.Duration  `yaml:"delay"`
	Malformed bool           `yaml:"malformed"`
	Cut       bool           `yaml:"cut"`
	Times     int            `yaml:"times"`
}

type overrideError struct {
	Code    string `yaml:"code"`
	Message string `yaml:"message"`
	Type    string `yaml:"type"`
}

// ReadOverrides reads overrides from a YAML or JSON file:
//
//	overrides:
//	  - step: 3                # or key: add:43258cff783f, or tool: fetch_doc
//	    error: {code: "503", message: upstream is down, type: Unavailable}
//	  - tool: search
//	    result: {hits: []}
//	    delay: 2s
//	    times: 1               # the first answer only
//	  - tool: fetch_doc
//	    malformed: true        # or cut: true
//
// An error names the file, the line and the field. What an entry is about must be
// on the tape that is opened.
func ReadOverrides(name string) ([]Option, error) {
	var f overrideFile
	var options []Option
	err := yamlfile.Read(name, &f, func() (err error) {
		options, err = f.options()
		return err
	})
	return options, err
}

func (f *overrideFile) options() (options []Option, err error) {
	var faults []error
	if len(f.Overrides) == 0 {
		return nil, errors.New("there are no overrides in it")
	}
	for i := range f.Overrides {
		e := &f.Overrides[i]
		at, answer, err := e.override()
		if err == nil {
			err = answer.check()
		}
		if err != nil {
			faults = append(faults, &yamlfile.FieldError{Path: fmt.Sprintf("overrides[%d]", i), Err: err})
			continue
		}
		options = append(options, func(c *config) error { return c.overrides.add(at, answer) })
	}
	return options, errors.Join(faults...)
}

func (e *overrideEntry) override() (at target, answer Substitute, err error) {
	at = target{e.Step, e.Key, e.Tool}
	if at != (target{seq: e.Step}) && at != (target{key: e.Key}) && at != (target{tool: e.Tool}) || at == (target{}) {
		return at, answer, errors.New("want one of step, key and tool")
	}
	switch {
	case e.Step < 0:
		return at, answer, fmt.Errorf("there is no step %d", e.Step)
	case !e.Result.IsZero() && e.Error != nil:
		return at, answer, errors.New("an answer is a result or an error, not both")
	case !e.Result.IsZero():
		var result any
		if err := e.Result.Decode(&result); err != nil {
			return at, answer, err
		}
		answer = AnswerResult(result)
	case e.Error != nil:
		answer = AnswerError(e.Error.Code, e.Error.Message)
		if e.Error.Type != "" {
			answer.err = &tape.Error{Code: e.Error.Code, Message: e.Error.Message, Type: e.Error.Type}
		}
	}
	if e.Delay != 0 {
		answer = answer.After(e.Delay)
	}
	if e.Malformed {
		answer = answer.Malformed()
	}
	if e.Cut {
		answer = answer.Cut()
	}
	if e.Times != 0 {
		answer = answer.Times(e.Times)
	}
	return at, answer, nil
}
