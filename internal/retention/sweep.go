package retention

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tapedeck/tapedeck/internal/store"
)

// Sweeper plans and sweeps one store, tenants included. It is safe for concurrent
// use.
type Sweeper struct {
	// Store is that of runs without a tenant.
	Store *store.Store
	// Policy is that of this process; nil is whatever is noted in the store.
	Policy *Policy
	// Leftovers is the backend where it knows unfinished writes, else nil.
	Leftovers Leftovers
	// Removed is told of each item that was removed, Failed of each that could not
	// be, Found of each finding. They may be called from several goroutines; nil is
	// nobody.
	Removed func(Item)
	Failed  func(Item, error)
	Found   func(Finding)
	// Now is the clock; nil is time.Now.
	Now func() time.Time

	seen   map[string]*seenFiles
	seenMu sync.Mutex
	seenOf string
}

// Report is what a plan or a sweep came to.
type Report struct {
	// Standing is what was judged by.
	Standing *Standing `json:"-"`
	// Waits is until when nothing goes, because no policy has stood for its grace
	// period; zero when one has.
	Waits time.Time `json:"waits,omitzero"`
	// Items and Bytes went, or would go. Rows are counted one by one.
	Items map[Kind]int `json:"items"`
	Bytes int64        `json:"bytes"`
	// Failed counts items that could not be removed.
	Failed int `json:"failed,omitempty"`
}

// removers is how many things are removed at a time: a bucket takes milliseconds for
// each.
const removers = 8

// Plan tells visit what a sweep would remove now, in its order, and found what there
// is to know besides. It changes nothing.
func (s *Sweeper) Plan(ctx context.Context, visit func(Item), found func(Finding)) (Report, error) {
	p := &planner{visit: visit, found: found, report: newReport()}
	err := s.judge(ctx, p, 1, &p.report)
	return p.report, err
}

// Sweep notes the policy and removes what is to go. What cannot be removed stays for
// the next sweep and keeps nothing else from going; the error says how many there
// were, and what could not be judged.
func (s *Sweeper) Sweep(ctx context.Context) (Report, error) {
	if s.Policy != nil {
		if err := announce(ctx, s.Store, s.Policy, s.now()); err != nil {
			return newReport(), err
		}
	}
	r := &remover{s: s, report: newReport()}
	err := s.judge(ctx, r, removers, &r.report)
	if r.failed != nil {
		err = errors.Join(err, fmt.Errorf("%d could not be removed, the first: %w", r.report.Failed, r.failed))
	}
	return r.report, err
}

func (s *Sweeper) now() time.Time {
	if s.Now != nil {
		return s.Now()
	}
	return time.Now()
}

func (s *Sweeper) judge(ctx context.Context, act actor, workers int, report *Report) error {
	st, err := standing(ctx, s.Store, s.Policy, s.now())
	if err != nil {
		return err
	}
	report.Standing = st
	if ok, when := st.inForce(); !ok {
		report.Waits = when
		return nil
	}
	err = s.Store.AllTenants(ctx, func(tenant string, of *store.Store) error {
		j := &judge{
			st: of, tenant: tenant, standing: st, act: act, workers: workers, seen: s.seenIn(tenant, st),
		}
		if tenant == "" {
			j.leftovers = s.Leftovers
		}
		return j.run(ctx)
	})
	if _, ok := act.(*remover); ok {
		for _, n := range st.old {
			err = errors.Join(err, s.Store.Remove(ctx, n.object))
		}
	}
	return err
}

// seenIn is what is remembered of a tenant's index under the policies in force.
func (s *Sweeper) seenIn(tenant string, st *Standing) *seenFiles {
	s.seenMu.Lock()
	defer s.seenMu.Unlock()
	of := ""
	for _, p := range st.policies {
		_, sum, _ := encode(p) // it was written as JSON before
		of += sum
	}
	if s.seen == nil || s.seenOf != of {
		s.seen, s.seenOf = map[string]*seenFiles{}, of
	}
	if s.seen[tenant] == nil {
		s.seen[tenant] = &seenFiles{}
	}
	return s.seen[tenant]
}

func newReport() Report { return Report{Items: map[Kind]int{}} }

func (r *Report) add(item Item) {
	n := 1
	if item.Kind == KindRows {
		n = item.Count
	}
	r.Items[item.Kind] += n
	r.Bytes += item.Bytes
}

// acts reports whether what is judged is also done.
func (j *judge) acts() bool {
	_, ok := j.act.(*remover)
	return ok
}

type planner struct {
	visit  func(Item)
	found  func(Finding)
	report Report
}

func (p *planner) item(_ context.Context, item Item, _ func(context.Context) error) bool {
	p.report.add(item)
	if p.visit != nil {
		p.visit(item)
	}
	return true
}

func (p *planner) finding(f Finding) {
	if p.found != nil {
		p.found(f)
	}
}

type remover struct {
	s      *Sweeper
	mu     sync.Mutex
	report Report
	// failed is the first failure.
	failed error
}

func (r *remover) item(ctx context.Context, item Item, remove func(context.Context) error) bool {
	err := ctx.Err()
	if err == nil {
		err = remove(ctx)
	}
	r.mu.Lock()
	if err == nil {
		r.report.add(item)
	} else {
		r.report.Failed++
		if r.failed == nil {
			r.failed = err
		}
	}
	r.mu.Unlock()
	switch {
	case err != nil && r.s.Failed != nil:
		r.s.Failed(item, err)
	case err == nil && r.s.Removed != nil:
		r.s.Removed(item)
	}
	return err == nil
}

func (r *remover) finding(f Finding) {
	if r.s.Found != nil {
		r.s.Found(f)
	}
}
