package recorder

import (
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/json"
	"strings"
	"sync"

	"github.com/tapedeck/tapedeck/internal/attribution"
	"github.com/tapedeck/tapedeck/internal/spool"
	"github.com/tapedeck/tapedeck/tape"
)

// goodRuns knows of each agent what its tools looked like when it last went well,
// to see when a failure has to do with a change; and of each kind of run, as
// Keep.LastSuccessPer has it, the last one that went well, as long as it is in the
// spool and not kept.
type goodRuns struct {
	per []string

	mu sync.Mutex
	// tools are by service and agent, those used last at the back of order.
	tools map[string]*list.Element
	order list.List
	size  int

	latest map[string]ID
	kinds  map[ID]string
}

type goodTools struct {
	agent string
	*attribution.Good
}

// maxGood bounds the memory of the schemas of all agents.
const maxGood = 4 << 20

func newGoodRuns(per []string) *goodRuns {
	return &goodRuns{per: per, tools: map[string]*list.Element{}, latest: map[string]ID{}, kinds: map[ID]string{}}
}

func agentOf(m *tape.Manifest) string { return m.Service + "\x00" + m.Agent }

// compare attributes what failed in a run once more, with the last good run of its
// agent beside it.
func (g *goodRuns) compare(a *attribution.Attributor, t *tape.Tape) {
	if t.Manifest == nil || t.Manifest.Failure == nil && t.Manifest.Outcome == tape.OutcomeSucceeded {
		return
	}
	var good *attribution.Good
	g.mu.Lock()
	if e := g.tools[agentOf(t.Manifest)]; e != nil {
		good = e.Value.(*goodTools).Good
	}
	g.mu.Unlock()
	a.Compare(t, good)
}

// remember takes note of the tools of a run that went well. What it returns is new
// and what had to go for it.
func (g *goodRuns) remember(t *tape.Tape) (added *goodTools, gone []string) {
	if t.Manifest == nil {
		return nil, nil
	}
	good := attribution.NewGood(t)
	if good == nil || good.Size() > maxGood/4 {
		return nil, nil
	}
	agent := agentOf(t.Manifest)
	g.mu.Lock()
	defer g.mu.Unlock()
	if e := g.tools[agent]; e != nil {
		g.order.MoveToBack(e)
		if e.Value.(*goodTools).SameTools(good) {
			return nil, nil
		}
		g.size -= e.Value.(*goodTools).Size()
		// Others may be reading the old one.
		e.Value = &goodTools{agent, good}
		g.size += good.Size()
		return e.Value.(*goodTools), g.shrink()
	}
	added = &goodTools{agent, good}
	g.tools[agent] = g.order.PushBack(added)
	g.size += good.Size()
	return added, g.shrink()
}

func (g *goodRuns) shrink() (gone []string) {
	for g.size > maxGood && g.order.Len() > 1 {
		old := g.order.Remove(g.order.Front()).(*goodTools)
		g.size -= old.Size()
		delete(g.tools, old.agent)
		gone = append(gone, old.agent)
	}
	return gone
}

// A mark with this in front holds the schemas of an agent, under an id made of its
// name.
const goodVersion = 2

type goodNote struct {
	Agent string            `json:"agent"`
	Good  *attribution.Good `json:"good"`
}

func goodID(agent string) (id ID) {
	sum := sha256.Sum256([]byte("tape.good:" + agent))
	copy(id[:], sum[:])
	return id
}

func (g *goodRuns) recover(mark []byte) {
	var n goodNote
	if json.Unmarshal(mark[1:], &n) != nil || n.Good == nil {
		return
	}
	g.tools[n.Agent] = g.order.PushBack(&goodTools{n.Agent, n.Good})
	g.size += n.Good.Size()
}

// learn takes from a decision what later ones are compared with.
func (r *Recorder) learn(v verdict) {
	if v.row.Outcome != tape.OutcomeSucceeded || v.tape == nil {
		return
	}
	added, gone := r.good.remember(v.tape)
	for _, agent := range gone {
		_ = r.spool.Unmark(goodID(agent))
	}
	if added == nil {
		return
	}
	b, err := json.Marshal(goodNote{added.agent, added.Good})
	if err == nil && len(b) < spool.MaxExtra {
		_ = r.spool.Mark(goodID(added.agent), append([]byte{goodVersion}, b...))
	}
}

// kind names the kind of a run.
func (g *goodRuns) kind(row tape.Row) string {
	values := make([]string, 0, 8)
	for _, name := range g.per {
		values = append(values, memberOf(row, name))
	}
	return strings.Join(values, "\x00")
}

func memberOf(row tape.Row, name string) string {
	switch name {
	case "service":
		return row.Service
	case "agent":
		return row.Agent
	case "environment":
		return row.Environment
	default:
		return row.Tenant
	}
}

// LastSuccessMembers are what Keep.LastSuccessPer may name.
var LastSuccessMembers = []string{"service", "agent", "environment", "tenant"}

// succeeded notes that a run of which the spool has the spans is the last good one
// of its kind.
func (g *goodRuns) succeeded(id ID, row tape.Row) {
	if len(g.per) > 0 {
		g.setLatest(id, g.kind(row))
	}
}

func (g *goodRuns) setLatest(id ID, kind string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if old, ok := g.latest[kind]; ok {
		delete(g.kinds, old)
	}
	g.latest[kind], g.kinds[id] = id, kind
}

// kindOf is the kind of which a run is the last good one, "" when it is of none.
func (g *goodRuns) kindOf(id ID) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.kinds[id]
}

// isLatest reports whether it is of any.
func (g *goodRuns) isLatest(id ID) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, ok := g.kinds[id]
	return ok
}

func (g *goodRuns) forget(id ID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if kind, ok := g.kinds[id]; ok {
		delete(g.kinds, id)
		delete(g.latest, kind)
	}
}

// lastLike is the last good run of the kind of a row.
func (g *goodRuns) lastLike(row tape.Row) (id ID, ok bool) {
	if len(g.per) == 0 {
		return id, false
	}
	kind := g.kind(row)
	g.mu.Lock()
	defer g.mu.Unlock()
	id, ok = g.latest[kind]
	return id, ok
}

// accompany keeps the last good run of the kind of a failed one that was kept. If
// somebody works on it, the next failure brings it along.
func (r *Recorder) accompany(ctx context.Context, row tape.Row) {
	id, ok := r.good.lastLike(row)
	if !ok {
		return
	}
	s := r.shard(id)
	s.mu.Lock()
	rn := s.runs[id]
	if rn == nil || rn.busy {
		s.mu.Unlock()
		return
	}
	s.own(rn)
	s.mu.Unlock()
	defer r.release(rn)
	_, _ = r.keepHeld(ctx, rn, rn.trigger.name(), tape.KeptLastSuccess)
}
