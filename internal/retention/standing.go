package retention

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tapedeck/tapedeck/internal/store"
)

// policiesFolder has one note for each time at which another policy was seen:
// <milliseconds since 1970>-<hash>.json.
const policiesFolder = "policies/"

// note is a policy and since when it stands.
type note struct {
	object store.Object
	since  time.Time
	sum    string
	policy *Policy
}

// Standing is what counts in a store at a time: of each thing the most generous that
// stood within the grace period.
type Standing struct {
	now, since time.Time
	grace      time.Duration
	// policies stood within the grace period, newest first; none when the first of
	// them has not stood for that long.
	policies []*Policy
	// old are notes that say nothing any more.
	old []note
}

// ErrNoPolicy says that no policy was ever noted in the store.
var ErrNoPolicy = errors.New("no policy of retention is noted in the store")

// announce notes a policy where the newest note says something else.
func announce(ctx context.Context, st *store.Store, p *Policy, now time.Time) error {
	notes, err := notesIn(ctx, st)
	if err != nil {
		return err
	}
	text, sum, err := encode(p)
	if err != nil {
		return err
	}
	if n := len(notes); n > 0 && notes[n-1].sum == sum {
		return nil
	}
	return st.PutNote(ctx, fmt.Sprintf("%s%013d-%s.json", policiesFolder, now.UnixMilli(), sum), text)
}

func encode(p *Policy) (text []byte, sum string, err error) {
	text, err = json.Marshal(p)
	if err != nil {
		return nil, "", fmt.Errorf("policy of retention: %w", err)
	}
	h := sha256.Sum256(text)
	return text, hex.EncodeToString(h[:6]), nil
}

// notesIn lists the notes of policies, oldest first, without reading them.
func notesIn(ctx context.Context, st *store.Store) ([]note, error) {
	var notes []note
	for object, err := range st.Notes(ctx, policiesFolder) {
		if err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(strings.TrimPrefix(store.NoteName(object), policiesFolder), ".json")
		ms, sum, _ := strings.Cut(name, "-")
		if n, err := strconv.ParseInt(ms, 10, 64); err == nil && sum != "" {
			notes = append(notes, note{object: object, since: time.UnixMilli(n), sum: sum})
		}
	}
	slices.SortStableFunc(notes, func(a, b note) int {
		return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.object.Name, b.object.Name))
	})
	return notes, nil
}

// standing reads what counts now. With a policy, that is taken for noted now unless
// it is the newest already. The error is ErrNoPolicy when there is none at all.
func standing(ctx context.Context, st *store.Store, own *Policy, now time.Time) (*Standing, error) {
	notes, err := notesIn(ctx, st)
	if err != nil {
		return nil, err
	}
	if own != nil {
		_, sum, err := encode(own)
		if err != nil {
			return nil, err
		}
		if n := len(notes); n == 0 || notes[n-1].sum != sum {
			notes = append(notes, note{since: now, sum: sum, policy: own})
		}
	}
	for i := range notes {
		n := &notes[i]
		if n.policy != nil {
			continue
		}
		text, err := st.ReadNote(ctx, n.object)
		if err != nil {
			return nil, err
		}
		n.policy = &Policy{}
		if err := json.Unmarshal(text, n.policy); err != nil {
			return nil, fmt.Errorf("%s: %w: %w", n.object.Name, store.ErrDamaged, err)
		}
	}
	if len(notes) == 0 {
		return nil, ErrNoPolicy
	}
	return choose(notes, now), nil
}

func choose(notes []note, now time.Time) *Standing {
	s := &Standing{now: now, since: notes[0].since}
	for _, n := range notes {
		s.grace = max(s.grace, n.policy.Grace)
	}
	// first is the note that stood when the grace period began.
	first := -1
	for i, n := range notes {
		if !n.since.After(now.Add(-s.grace)) {
			first = i
		}
	}
	if first < 0 {
		return s
	}
	s.old = notes[:first]
	for _, n := range slices.Backward(notes[first:]) {
		s.policies = append(s.policies, n.policy)
	}
	return s
}

// inForce reports whether anything may go, and if not, when it may.
func (s *Standing) inForce() (bool, time.Time) {
	return len(s.policies) > 0, s.since.Add(s.grace)
}

// class is what counts for a class, and whether the newest policy has it.
func (s *Standing) class(name string) (Class, bool) {
	c, known := s.policies[0].class(name)
	for _, p := range s.policies[1:] {
		other, _ := p.class(name)
		c.Keep = max(c.Keep, other.Keep)
		if other.MaxBytes == 0 || c.MaxBytes != 0 && other.MaxBytes > c.MaxBytes {
			c.MaxBytes = other.MaxBytes
		}
	}
	return c, known
}

func (s *Standing) summaries() Keep {
	var k Keep
	for _, p := range s.policies {
		k = max(k, p.Summaries)
	}
	return k
}

// bounds are the shortest and the longest time that anything stays.
func (s *Standing) bounds() (shortest, longest Keep) {
	shortest, longest = s.summaries(), s.summaries()
	for _, p := range s.policies {
		shortest, longest = min(shortest, p.Default.Keep), max(longest, p.Default.Keep)
		for i := range p.Rules {
			shortest, longest = min(shortest, p.Rules[i].Keep), max(longest, p.Rules[i].Keep)
		}
	}
	return shortest, longest
}
