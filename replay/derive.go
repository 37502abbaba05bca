package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/tape"
)

// WithDerived writes what came of a session in which calls ran live to a file: a
// tape of its own, with the answers that came from the parent's tape and those of
// the live calls, in the order in which the calls were made. Its manifest names
// the parent. The file must not exist; only its owner can read it. Without it the
// tape is in memory, see [Session.Tape].
func WithDerived(path string) Option {
	return func(c *config) error {
		if path == "" {
			return errors.New("the derived tape needs a name")
		}
		c.derived = path
		return nil
	}
}

// startDerived begins the derived tape of a session.
func (s *Session) startDerived() error {
	c := s.cfg
	var file *tapeFile
	if c.derived != "" {
		if _, err := os.Lstat(c.derived); !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("derived tape %s: %w", c.derived, fs.ErrExist)
		}
		var err error
		if file, err = openFile(c.derived); err != nil {
			return fmt.Errorf("derived tape: %w", err)
		}
		c.recordTo = file
	}
	var err error
	s.recorder, err = newRecorder(&tape.Tape{Manifest: s.tape.Manifest}, s.policy, c, file)
	if err != nil && file != nil {
		err = errors.Join(err, file.abandon())
	}
	return err
}

// derivedManifest is the manifest of a tape derived from one with this manifest.
func derivedManifest(parent *tape.Manifest, policy *redact.Policy, c *config, gaps []tape.Gap) *tape.Manifest {
	m := &tape.Manifest{}
	if parent != nil {
		m.ConversationID, m.Service, m.Agent, m.AgentVersion = parent.ConversationID, parent.Service, parent.Agent, parent.AgentVersion
		m.Environment, m.Tools, m.Resource = parent.Environment, parent.Tools, parent.Resource
	}
	m.Tape, m.CodeVersion, m.Recorder = tape.Version, c.codeVersion, recorderName
	m.Started, m.Gaps, m.Redaction = c.now().UTC().Format(time.RFC3339Nano), gaps, policy.Manifest()
	m.Parent = &tape.Parent{Experiment: string(ChangedWorld), Fork: c.fork}
	if c.fork > 0 {
		m.Parent.Experiment = string(Fork)
	}
	if parent != nil {
		m.Parent.TraceID = parent.TraceID
	}
	return m
}

// keep writes an answer that did not run to the derived tape.
func (s *Session) keep(c *call, answer *Answer) {
	if s.cfg.live == nil {
		return
	}
	var r tape.Record
	if answer.Record != nil {
		r = *answer.Record
		r.Extra = append(r.Extra[:len(r.Extra):len(r.Extra)], tape.Member{Name: "parent_seq", Value: json.RawMessage(fmt.Sprint(answer.Seq))})
	} else {
		// It stands where the tape stands, between the records around it.
		r = tape.Record{Kind: c.kind, Tool: c.tool, Start: c.derivedAt.Format(time.RFC3339Nano)}
	}
	// The arguments are known now, also where the parent has them by reference.
	r.Bodies = slices.DeleteFunc(slices.Clone(r.Bodies), func(b tape.Body) bool { return b.IsArgs() })
	if answer.Overridden || answer.Derived {
		r.Result, r.Error, r.Bodies = answer.Result, answer.Error, nil
		if answer.Fault != "" {
			// What is spoilt is no JSON; the record keeps what was there before.
			r.Result = answer.Record.Result
		}
	}
	r.Key, r.ArgsHash, _ = tape.KeyAndHash(c.tool, c.args)
	r.Args = c.args
	// An error is told by the close of the session.
	if slot, err := s.recorder.begin(&r); err == nil {
		s.recorder.end(slot)
	}
}
