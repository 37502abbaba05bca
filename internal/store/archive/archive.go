// Package archive puts a mixture of spans into a store: fragments of kept runs,
// rows of decided ones.
//
// Spans that a processor has decided carry the decision: a summary span becomes
// a row and nothing else, the spans of a kept run become a fragment, and the
// span that carries the row brings the row. Spans that nobody has decided are
// all kept: they are redacted, stored, and read together with what is already
// there of their run to make its row.
//
// Where a resource attribute names the tenant, the spans of each tenant go to its
// own store, whatever requests they come in and whatever their trace ids are.
//
// Writing the same spans again is harmless. Fragments are written before rows,
// so a row never tells of a run that is not there. Spans that arrive in several
// requests, in any order, give the same run.
//
// A decided run costs one write for its fragment and its part in one append of
// rows. An undecided request also reads what is stored of its runs.
package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"github.com/tapedeck/tapedeck/internal/attr"
	"github.com/tapedeck/tapedeck/internal/dialect"
	"github.com/tapedeck/tapedeck/internal/scrub"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/tape"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Options adjust an Archive.
type Options struct {
	// Class names the class that takes a kept run.
	Class func(tape.Row) string
	// Translation says how spans become tapes.
	Translation dialect.Options
	// Scrubber redacts spans that nobody has redacted before.
	Scrubber *scrub.Scrubber
	// Permanent reports errors of the backend that will not go away; nil means
	// that there are none.
	Permanent func(error) bool
	// Now is the time of decision of undecided runs; nil is time.Now.
	Now func() time.Time
}

// Archive writes spans into a store. It is safe for concurrent use.
type Archive struct {
	store *store.Store
	opts  Options
	seed  maphash.Seed
	// locks keep two requests with undecided spans of one run from each making
	// a row without the spans of the other.
	locks [64]sync.Mutex
}

// New makes an Archive.
func New(st *store.Store, opts Options) *Archive {
	if opts.Permanent == nil {
		opts.Permanent = func(error) bool { return false }
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	return &Archive{store: st, opts: opts, seed: maphash.MakeSeed()}
}

// Result says what became of the spans of one Write.
type Result struct {
	// Fragments and Bytes were written, after compression.
	Fragments int
	Bytes     int64
	// Kept and Summarised are rows written.
	Kept, Summarised int
	// Redacted counts values replaced in spans that came unredacted.
	Redacted int
	// Failed holds the spans to be tried again, and Err why.
	Failed ptrace.Traces
	Err    error
	// Refused are the spans that can never be stored.
	Refused []Refusal
}

// Refusal is some spans of one run that can never be stored.
type Refusal struct {
	Spans int
	Err   error
}

// RefusedSpans counts the spans that can never be stored.
func (r *Result) RefusedSpans() int {
	n := 0
	for _, refusal := range r.Refused {
		n += refusal.Spans
	}
	return n
}

// RefusedErr joins the reasons, nil when nothing was refused.
func (r *Result) RefusedErr() error {
	var errs []error
	for _, refusal := range r.Refused {
		errs = append(errs, refusal.Err)
	}
	return errors.Join(errs...)
}

// Write stores spans. It takes td apart: what must be written again is in
// Result.Failed.
func (a *Archive) Write(ctx context.Context, td ptrace.Traces) Result {
	result := Result{Failed: ptrace.NewTraces()}
	runs, err := split(td, a.opts.Translation.Tenant)
	if err != nil {
		result.Refused = []Refusal{{Spans: td.SpanCount(), Err: err}}
		return result
	}
	var written []*decided
	for _, r := range runs {
		rows, err := a.run(ctx, r, &result)
		if err != nil {
			a.failed(&result, r, err)
			continue
		}
		written = group(written, r, rows)
	}
	for _, d := range written {
		if err := d.store.AppendEntries(ctx, d.rows); err != nil {
			// Their fragments are there, and writing those again is harmless.
			for _, r := range d.runs {
				a.failed(&result, r, err)
			}
			continue
		}
		result.count(d.rows)
	}
	return result
}

// decided is what goes to the index of one store.
type decided struct {
	store *store.Store
	rows  []store.Entry
	runs  []*run
}

// group puts the rows of a run to those of the same store. There are as many stores
// as there are tenants in a request, which are few.
func group(all []*decided, r *run, rows []store.Entry) []*decided {
	if len(rows) == 0 {
		return all
	}
	at := slices.IndexFunc(all, func(d *decided) bool { return d.store == r.store })
	if at < 0 {
		at = len(all)
		all = append(all, &decided{store: r.store})
	}
	all[at].rows = append(all[at].rows, rows...)
	all[at].runs = append(all[at].runs, r)
	return all
}

func (r *Result) count(rows []store.Entry) {
	for _, row := range rows {
		switch {
		case row.Part:
		case row.Kept:
			r.Kept++
		default:
			r.Summarised++
		}
	}
}

func (a *Archive) failed(result *Result, r *run, err error) {
	if a.permanent(err) {
		result.Refused = append(result.Refused, Refusal{Spans: r.td.SpanCount(), Err: err})
		return
	}
	r.td.ResourceSpans().MoveAndAppendTo(result.Failed.ResourceSpans())
	result.Err = errors.Join(result.Err, err)
}

func (a *Archive) permanent(err error) bool {
	return errors.Is(err, store.ErrTooLarge) || errors.Is(err, store.ErrBadName) || errors.Is(err, store.ErrRefused) ||
		errors.Is(err, store.ErrBadTraceID) || errors.Is(err, store.ErrDamaged) || a.opts.Permanent(err)
}

// run stores the spans of one run and gives its rows.
func (a *Archive) run(ctx context.Context, r *run, result *Result) ([]store.Entry, error) {
	if r.id == "" {
		return nil, fmt.Errorf("%d spans: %w: all zero", r.td.SpanCount(), store.ErrBadTraceID)
	}
	var err error
	if r.store, err = a.store.Tenant(r.tenant); err != nil {
		return nil, err
	}
	p, err := a.prepare(ctx, r)
	if err != nil {
		return nil, err
	}
	result.Redacted += p.redacted
	marks := readMarks(r.id, p.td)
	r.own(&marks)
	spans := marks.spans
	var rows []store.Entry
	for _, row := range marks.summaries {
		rows = append(rows, store.Entry{Row: row})
	}
	if spans.SpanCount() == 0 {
		return rows, nil
	}
	var e store.Entry
	switch {
	case marks.row == nil && marks.outcome == "":
		e.Row, err = a.undecided(ctx, r, spans, result)
	case marks.row == nil:
		if !p.trusted {
			marks.class = ""
		}
		e, err = a.part(ctx, r, &marks, result)
	default:
		e.Row = *marks.row
		e.Kept = true
		if !p.trusted || store.CheckClass(e.Class) != nil {
			e.Class = a.opts.Class(e.Row)
		}
		// Otherwise the bodies of the run are in that class already.
		err = r.fragment(ctx, &e, spans, result)
	}
	return append(rows, e), err
}

// own puts the tenant into rows that lack it: a processor without the storage has
// not heard which attribute names it, and rules of retention ask for it.
func (r *run) own(m *marks) {
	for i := range m.summaries {
		m.summaries[i].Tenant = cmp.Or(m.summaries[i].Tenant, r.tenant)
	}
	if m.row != nil {
		m.row.Tenant = cmp.Or(m.row.Tenant, r.tenant)
	}
}

// fragment stores spans and says in the entry where.
func (r *run) fragment(ctx context.Context, e *store.Entry, td ptrace.Traces, result *Result) error {
	f, err := r.store.PutFragment(ctx, e.Class, e.TraceID, td)
	if err == nil {
		result.Fragments++
		result.Bytes += f.Bytes
	}
	e.Fragment, e.Bytes = f.Name, f.Bytes
	return err
}

// part stores spans whose row came or comes with others: a piece of a run, or a
// late span. Its entry adds to the row, and where that was deleted since, or never
// comes, it still shows what is stored.
func (a *Archive) part(ctx context.Context, r *run, m *marks, result *Result) (store.Entry, error) {
	e := store.Entry{Part: true, Row: tape.Row{TraceID: r.id, Tenant: r.tenant, Outcome: m.outcome, Kept: true}}
	// The bodies of the spans are in the class that the processor chose.
	if e.Class = m.class; store.CheckClass(e.Class) != nil {
		e.Class = a.opts.Class(e.Row)
	}
	if err := r.fragment(ctx, &e, m.spans, result); err != nil {
		return e, err
	}
	decided, err := r.store.Decided(ctx, r.id)
	e.Decided = decided.UTC().Format(time.RFC3339Nano)
	return e, err
}

// undecided stores spans without a decision and makes the row of their run as
// far as it is known.
func (a *Archive) undecided(ctx context.Context, r *run, td ptrace.Traces, result *Result) (tape.Row, error) {
	lock := &a.locks[maphash.String(a.seed, r.id)%uint64(len(a.locks))]
	lock.Lock()
	defer lock.Unlock()
	whole := td
	switch stored, err := r.store.Trace(ctx, r.id); {
	case err == nil:
		whole = stored.Traces
		more := ptrace.NewTraces()
		td.CopyTo(more)
		more.ResourceSpans().MoveAndAppendTo(whole.ResourceSpans())
	case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrDamaged), errors.Is(err, store.ErrTooLarge):
	default:
		return tape.Row{}, err
	}
	row := tape.Row{TraceID: r.id}
	opts := a.opts.Translation
	opts.Lean = true
	for _, run := range dialect.Runs(whole, plog.NewLogs(), opts) {
		if got := run.Row(); got.TraceID == r.id {
			row = got
		}
	}
	row.Tenant = cmp.Or(row.Tenant, r.tenant) // of a run without a root nobody else says it
	row = attr.Clip(row)
	row.Kept = true
	row.Decided = a.opts.Now().UTC().Format(time.RFC3339Nano)
	row.Class = a.opts.Class(row)
	e := store.Entry{Row: row}
	if err := r.fragment(ctx, &e, td, result); err != nil {
		return row, err
	}
	var err error
	row.Bytes, err = r.store.StoredBytes(ctx, r.id)
	return row, err
}
