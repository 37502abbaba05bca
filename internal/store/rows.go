package store

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/tapedeck/tapedeck/internal/store/rowfile"
	"github.com/tapedeck/tapedeck/tape"
)

// reach is how far apart the rows of a run may be decided to be seen as those of
// one run by a list. Collectors that each hold a part of it decide within minutes
// of each other; looking further would mean reading the whole index for each page.
const reach = time.Hour

// Rows answers a query, newest decision first. It reads the keys of the hours it
// shows and of one older hour, and the rows it shows. The error is ErrBadCursor
// for a cursor that is none.
func (s *Store) Rows(ctx context.Context, q Query) (Page, error) {
	for attempt := 0; ; attempt++ {
		page, err := s.rows(ctx, q)
		// A file was replaced after its keys were read.
		if !isGone(err) || attempt == listAgain {
			return page, err
		}
	}
}

func (s *Store) rows(ctx context.Context, q Query) (Page, error) {
	l := lister{ctx: ctx, x: s.index, query: q, limit: q.Limit, conditions: q.conditions(), seen: map[string]struct{}{}}
	if l.limit <= 0 {
		l.limit = DefaultLimit
	}
	l.limit = min(l.limit, MaxLimit)
	if q.Cursor != "" {
		c, err := parseCursor(q.Cursor)
		if err != nil {
			return Page{}, err
		}
		l.cursor = c
		l.asOf = c.asOf
	}
	for p, err := range s.index.partitions(ctx) {
		if err != nil {
			return Page{}, err
		}
		if l.done(p.hour) {
			break
		}
		if !l.asOf.IsZero() && p.hour.After(l.asOf) {
			continue
		}
		if err := l.read(p); err != nil {
			return Page{}, err
		}
	}
	if err := l.show(); err != nil {
		return Page{}, err
	}
	return l.page(), nil
}

// lister walks the hours of the index from new to old. It holds back the runs of
// one hour until it has the keys of the next older one, where there may be more
// of them.
type lister struct {
	ctx    context.Context
	x      *index
	query  Query
	limit  int
	cursor *cursor
	// conditions are those of the query that columns can tell.
	conditions []rowfile.Condition
	// asOf hides rows decided later; zero hides none.
	asOf   time.Time
	newest time.Time

	// hour and held are what was read last and is not shown yet.
	hour time.Time
	held map[string]*group
	// room is where groups are made.
	room []group
	// seen are runs of newer hours.
	seen map[string]struct{}
	out  []*decided
}

// group is what the keys say of one run.
type group struct {
	refs []ref
	// only is the room of refs for the one entry that most runs have.
	only [1]ref
	// row, part and grave are the newest times of decision of each kind of entry.
	row, part, grave int64
	kept             bool
	// may is set when the query may want the run by what columns tell of one of its
	// entries.
	may bool
}

// ref is where an entry is.
type ref struct {
	segment segment
	at      int64
}

func (g *group) add(k key, r ref) {
	g.refs = append(g.refs, r)
	switch {
	case k.deleted:
		g.grave = max(g.grave, k.at)
	case k.part:
		g.part = max(g.part, k.at)
		g.kept = true
	default:
		g.row = max(g.row, k.at)
		g.kept = g.kept || k.kept
	}
}

func (g *group) join(older *group) {
	g.refs = append(g.refs, older.refs...)
	g.row, g.part, g.grave = max(g.row, older.row), max(g.part, older.part), max(g.grave, older.grave)
	g.kept = g.kept || older.kept
	g.may = g.may || older.may
}

// position is where the run stands in the list: at its newest row, or where there
// is none at the newest part of it. It is zero when the run was deleted since.
func (g *group) position() time.Time {
	for _, at := range []int64{g.row, g.part} {
		if at > g.grave {
			return time.UnixMicro(at).UTC()
		}
	}
	return time.Time{}
}

// done reports whether no row of the hour or of older ones belongs to the answer.
func (l *lister) done(hour time.Time) bool {
	if len(l.out) > l.limit {
		return true
	}
	end := hour.Add(time.Hour)
	return !l.query.Since.IsZero() && !end.After(l.query.Since.Add(-reach))
}

func (l *lister) read(p partition) error {
	var found map[string]*group
	err := l.x.read(l.ctx, p, func(segments []segment) error {
		found = map[string]*group{}
		for _, s := range segments {
			keys, err := s.keys()
			if err != nil {
				return err
			}
			matches, err := s.match(l.conditions)
			if err != nil {
				return err
			}
			for i, k := range keys {
				l.found(found, k, ref{s, int64(i)}, i >= len(matches) || matches[i])
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if l.hour.Sub(p.hour) <= reach {
		for id, newer := range l.held {
			if older, ok := found[id]; ok {
				newer.join(older)
				delete(found, id)
			}
		}
	}
	if err := l.show(); err != nil {
		return err
	}
	for id := range found {
		if _, ok := l.seen[id]; ok {
			delete(found, id)
		}
	}
	l.hour, l.held = p.hour, found
	return nil
}

func (l *lister) found(groups map[string]*group, k key, r ref, may bool) {
	if _, ok := l.seen[k.id]; ok {
		return
	}
	at := time.UnixMicro(k.at).UTC()
	if !l.asOf.IsZero() && at.After(l.asOf) {
		return
	}
	if at.After(l.newest) {
		l.newest = at
	}
	g := groups[k.id]
	if g == nil {
		if len(l.room) == 0 {
			l.room = make([]group, 128)
		}
		g, l.room = &l.room[0], l.room[1:]
		g.refs = g.only[:0]
		groups[k.id] = g
	}
	g.add(k, r)
	g.may = g.may || may
}

// candidate is a run that may belong to the answer.
type candidate struct {
	*group
	at time.Time
	id string
}

// loadRuns is how many runs are read together.
const loadRuns = 256

// show moves the held runs that match to the answer, reading rows until it is
// full.
func (l *lister) show() error {
	var candidates []candidate
	for id, g := range l.held {
		l.seen[id] = struct{}{}
		c := candidate{g, g.position(), id}
		if !c.at.IsZero() && l.wanted(&c) {
			candidates = append(candidates, c)
		}
	}
	l.held = nil
	slices.SortFunc(candidates, func(a, b candidate) int {
		return cmp.Or(b.at.Compare(a.at), strings.Compare(b.id, a.id))
	})
	for len(candidates) > 0 && len(l.out) <= l.limit {
		n := min(len(candidates), loadRuns, l.limit+1)
		if err := l.load(candidates[:n]); err != nil {
			return err
		}
		candidates = candidates[n:]
	}
	return nil
}

// wanted says what the keys alone can say about the query. A run of which there is
// one entry is what that says; what several come to is only known from the rows.
func (l *lister) wanted(c *candidate) bool {
	q := &l.query
	return (q.Since.IsZero() || !c.at.Before(q.Since)) && (q.Until.IsZero() || c.at.Before(q.Until)) &&
		(!q.KeptOnly || c.kept) && (c.may || len(c.refs) > 1) && (l.cursor == nil || l.cursor.passed(c.at, c.id))
}

// load reads the rows of runs and moves those that match to the answer.
func (l *lister) load(candidates []candidate) error {
	entries := make([][]Entry, len(candidates))
	type want struct {
		at       int64
		run, ref int
	}
	bySegment := map[segment][]want{}
	for i, c := range candidates {
		entries[i] = make([]Entry, len(c.refs))
		for j, r := range c.refs {
			bySegment[r.segment] = append(bySegment[r.segment], want{r.at, i, j})
		}
	}
	for s, wants := range bySegment {
		slices.SortFunc(wants, func(a, b want) int { return cmp.Compare(a.at, b.at) })
		positions := make([]int64, len(wants))
		for i, w := range wants {
			positions[i] = w.at
		}
		next := 0
		err := s.rows(positions, func(_ int64, e *Entry) error {
			// In the order in which they were found: of two rows of one instant the
			// later written counts.
			entries[wants[next].run][wants[next].ref] = *e
			next++
			return nil
		})
		if err != nil {
			return err
		}
	}
	for i, c := range candidates {
		list := slices.DeleteFunc(entries[i], func(e Entry) bool {
			// One that could not be read has no id.
			return e.TraceID == "" || !l.asOf.IsZero() && parseTime(e.Decided).After(l.asOf)
		})
		row, ok := mergeEntries(list)
		if ok && l.query.match(&row) {
			l.out = append(l.out, &decided{at: c.at, row: row})
		}
	}
	return nil
}

// decided is a row of the answer and where it stands.
type decided struct {
	at  time.Time
	row tape.Row
}

func (l *lister) page() Page {
	more := len(l.out) > l.limit
	shown := l.out[:min(len(l.out), l.limit)]
	page := Page{Rows: make([]tape.Row, len(shown))}
	for i, d := range shown {
		page.Rows[i] = d.row
	}
	if more {
		last := shown[len(shown)-1]
		asOf := l.asOf
		if asOf.IsZero() {
			asOf = l.newest
		}
		next := cursor{asOf: asOf, at: last.at, id: last.row.TraceID}
		page.Next = next.String()
	}
	return page
}
