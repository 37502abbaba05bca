// Package rebuild makes tapes and whole traces from what a store holds.
//
// The API, the receiver and the command line share it. What is missing — a
// body that has expired, a fragment that is damaged — never stops it: the tape
// names the gap, and so does the trace's list.
//
// It holds one run in memory, with its bodies unless they are left by
// reference.
package rebuild

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/tapedeck/tapedeck/internal/attr"
	"github.com/tapedeck/tapedeck/internal/dialect"
	"github.com/tapedeck/tapedeck/internal/doctor"
	"github.com/tapedeck/tapedeck/internal/offload"
	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/tape"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"golang.org/x/sync/errgroup"
)

// Stored is a run with its bodies put back.
type Stored struct {
	*store.Run
	// Missing are the bodies that could not be put back; the trace still has
	// their references.
	Missing []offload.Ref
	// bodies is set when there were any.
	bodies bool
}

// Traces reads a run and puts its bodies back. Errors are those of
// [store.Store.Trace], and those of a backend that cannot be read.
func Traces(ctx context.Context, st *store.Store, traceID string) (*Stored, error) {
	run, err := st.Trace(ctx, traceID)
	if err != nil {
		return nil, err
	}
	return withBodies(ctx, st, run, false)
}

// Options say what a rebuilt tape looks like.
type Options struct {
	// BodiesByRef leaves large bodies out and names them by their hash.
	BodiesByRef bool
	// Translation says how spans become tapes.
	Translation dialect.Options
}

// Tape rebuilds the tape of a run whole. Errors are those of [Traces].
func Tape(ctx context.Context, st *store.Store, traceID string, opts Options) (*tape.Tape, error) {
	manifest, records, err := Records(ctx, st, traceID, opts)
	if err != nil {
		return nil, err
	}
	return &tape.Tape{Manifest: manifest, Records: slices.Collect(records)}, nil
}

// Records rebuilds the tape of a run one record at a time: what a long run repeats
// of its conversation is never in memory twice. Errors are those of [Traces].
func Records(ctx context.Context, st *store.Store, traceID string, opts Options) (*tape.Manifest, iter.Seq[tape.Record], error) {
	made, err := Make(ctx, st, traceID, opts)
	if err != nil {
		return nil, nil, err
	}
	return made.Manifest, made.Records, nil
}

// Made is a tape as it was rebuilt, and what it was rebuilt from.
type Made struct {
	Manifest *tape.Manifest
	// Records gives one record after the other.
	Records iter.Seq[tape.Record]
	// Source is what the tape was made of.
	Source Source
}

// Source says what a tape was made of, so that it need not be made again as long as
// that is the same.
type Source struct {
	// Whole is false for a tape that hangs on more than can be told by looking: on
	// bodies, on what could not be read, on rules that are not there yet.
	Whole   bool
	version string
	decided []time.Time
	rows    string
}

// Current reports whether a tape of the same source would be the same now. It costs
// the listings of [store.Store.Version] and [store.Store.Mentions].
func (s *Source) Current(ctx context.Context, st *store.Store, traceID string) (bool, error) {
	if !s.Whole {
		return false, nil
	}
	version, err := st.Version(ctx, traceID)
	if err != nil || version != s.version {
		return false, err
	}
	mentions, err := st.Mentions(ctx, traceID, s.decided...)
	return err == nil && mentions.Version() == s.rows, err
}

// Make is Records with what the tape was made of.
func Make(ctx context.Context, st *store.Store, traceID string, opts Options) (*Made, error) {
	run, err := st.Trace(ctx, traceID)
	if err != nil {
		return nil, err
	}
	source := Source{version: run.Version, decided: decidedTimes(run)}
	var stored *Stored
	var policy *tape.Redaction
	var left []tape.Row
	// Where the store is far away each of these takes its time.
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		stored, err = withBodies(groupCtx, st, run, opts.BodiesByRef)
		return err
	})
	group.Go(func() error {
		mentions, err := st.Mentions(groupCtx, traceID, source.decided...)
		if err != nil {
			return fmt.Errorf("rows of trace %s: %w", traceID, err)
		}
		source.rows = mentions.Version()
		left, err = st.Summarised(groupCtx, mentions)
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	if policy, err = redaction(ctx, st, stored.Traces); err != nil {
		return nil, err
	}
	source.Whole = !stored.bodies && len(run.Damaged) == 0 && run.Fragments == len(run.Parts) &&
		(policy == nil || len(policy.Rules) > 0)
	translated := translate(stored, opts.Translation)
	t := translated.Tape
	t.Manifest.Redaction = policy
	gaps := len(t.Manifest.Gaps)
	if !opts.BodiesByRef {
		bodyGaps(t, stored.Missing)
	}
	for _, err := range stored.Damaged {
		addGap(t, tape.Gap{What: "span", Why: err.Error()})
	}
	for i := range left {
		addGap(t, summaryGap(&left[i]))
	}
	if len(t.Manifest.Gaps) > gaps || len(t.Records) == 0 {
		// The translation did not know of these.
		t.Manifest.Complete = doctor.Complete(t)
	}
	return &Made{Manifest: t.Manifest, Records: translated.Each(), Source: source}, nil
}

func withBodies(ctx context.Context, st *store.Store, run *store.Run, byRef bool) (*Stored, error) {
	if byRef {
		// Restore is called for the escapes, which go all the same.
		missing, _ := offload.Restore(run.Traces, func(offload.Ref) ([]byte, error) { return nil, offload.ErrMissing })
		return &Stored{Run: run, Missing: missing}, nil
	}
	bodies, err := fetch(ctx, st, run)
	if err != nil {
		return nil, fmt.Errorf("bodies of trace %s: %w", run.TraceID, err)
	}
	had := len(bodies) > 0
	return &Stored{Run: run, Missing: restore(run, bodies), bodies: had}, nil
}

// summaryGap is for calls that somebody else, or the same collector before, decided
// about on their own.
func summaryGap(row *tape.Row) tape.Gap {
	return tape.Gap{
		What: "span",
		Why: fmt.Sprintf("a part of the run with %d calls was decided on its own (%s, %s) and only summarised",
			row.Steps, row.Decided, row.Outcome),
		Fix: "send all spans of a trace to the same collector",
	}
}

func translate(stored *Stored, opts dialect.Options) dialect.Run {
	opts.Lean = true
	opts.References = make(map[string]bool, len(stored.Missing))
	for _, ref := range stored.Missing {
		opts.References[ref.SHA256] = true
	}
	for _, rs := range stored.Traces.ResourceSpans().All() {
		// These are ours and say nothing about the resource.
		rs.Resource().Attributes().Remove(attr.Redaction)
		rs.Resource().Attributes().Remove(attr.RedactionRules)
	}
	for _, run := range dialect.Runs(stored.Traces, plog.NewLogs(), opts) {
		if run.Tape.Manifest.TraceID == stored.TraceID {
			return run
		}
	}
	// Fragments without a span of this trace: somebody else wrote them.
	return dialect.Run{Tape: &tape.Tape{Manifest: &tape.Manifest{
		Tape:    tape.Version,
		TraceID: stored.TraceID,
		Gaps:    []tape.Gap{{What: "span", Why: "the stored fragments hold no span of this trace"}},
	}}}
}

// bodyGaps names each body that is no longer there at the records that miss
// it, or at the run when no record has it.
func bodyGaps(t *tape.Tape, missing []offload.Ref) {
	for _, ref := range missing {
		gap := tape.Gap{What: "body", Why: "the body sha256:" + ref.SHA256 + " is not in the store"}
		found := false
		for i := range t.Records {
			record := &t.Records[i]
			for _, body := range record.Bodies {
				if body.SHA256 != ref.SHA256 {
					continue
				}
				found = true
				record.Fidelity = tape.FidelityAbsent
				t.Manifest.Fidelity = tape.FidelityAbsent
				gap.Seq, gap.What = record.Seq, "result"
				if body.Of != "" {
					gap.What = body.Of
				}
				addGap(t, gap)
			}
		}
		if !found {
			addGap(t, gap)
		}
	}
}

func addGap(t *tape.Tape, gap tape.Gap) {
	t.Manifest.Gaps = append(t.Manifest.Gaps, gap)
}

// redaction is the policy that the spans were redacted with, with its rules as
// far as they are known.
func redaction(ctx context.Context, st *store.Store, td ptrace.Traces) (*tape.Redaction, error) {
	for _, rs := range td.ResourceSpans().All() {
		resource := rs.Resource().Attributes()
		id := text(resource, attr.Redaction)
		if id == "" {
			continue
		}
		if known := redact.Default().Manifest(); known.Policy == id {
			return known, nil
		}
		if rules := text(resource, attr.RedactionRules); json.Valid([]byte(rules)) {
			return &tape.Redaction{Policy: id, Rules: []byte(rules)}, nil
		}
		policy, err := st.Policy(ctx, id)
		switch {
		case err == nil:
			return policy, nil
		case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrBadName), errors.Is(err, store.ErrDamaged), errors.Is(err, store.ErrTooLarge):
			return &tape.Redaction{Policy: id}, nil
		default:
			return nil, fmt.Errorf("redaction policy %s: %w", id, err)
		}
	}
	return nil, nil
}

func text(m pcommon.Map, name string) string {
	if v, ok := m.Get(name); ok && v.Type() == pcommon.ValueTypeStr {
		return v.Str()
	}
	return ""
}
