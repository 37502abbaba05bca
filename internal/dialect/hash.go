package dialect

import (
	"crypto/sha256"
	"fmt"
	"hash"

	"github.com/tapedeck/tapedeck/internal/dialect/message"
	"github.com/tapedeck/tapedeck/tape"
)

// messagesMember is how the canonical form of a request with messages begins.
const messagesMember = `{"messages":[`

// newHash is a hash of which a state can be kept, to go on from it twice.
func newHash() (hash.Cloner, error) { return cloneHash(sha256.New()) }

func cloneHash(h hash.Hash) (hash.Cloner, error) {
	c, ok := h.(hash.Cloner)
	if !ok {
		return nil, fmt.Errorf("%T keeps no state", h)
	}
	return c.Clone()
}

// hashMessages is the hash of a canonical request up to the end of its last
// message; it is the caller's to go on from.
func (q *modelRequest) hashMessages() (hash.Cloner, error) {
	if q.talk == nil {
		alone := conversation{ms: q.messages}
		return alone.hashed()
	}
	h, err := q.talk.hashed()
	if err != nil {
		return nil, err
	}
	return h.Clone()
}

// hashed is the hash after all messages of the conversation.
func (t *conversation) hashed() (hash.Cloner, error) {
	if t.atEnd != nil {
		return t.atEnd, nil
	}
	h, from, err := t.base.hashedTo(t.shared)
	if err != nil {
		return nil, err
	}
	w := hashWriter{hash: h}
	ms := t.ms[t.head:]
	for i := from; i < len(ms); i++ {
		if i == t.shared && i > 0 {
			if t.atShared, err = w.hash.Clone(); err != nil {
				return nil, err
			}
		}
		if err := w.message(&ms[i], i == 0); err != nil {
			return nil, err
		}
	}
	t.atEnd = w.hash
	return t.atEnd, nil
}

// hashedTo is the hash after at most n messages that is known of t or of what it
// goes on from, and after how many it is.
func (t *conversation) hashedTo(n int) (h hash.Cloner, done int, err error) {
	for ; t != nil; t = t.base {
		switch {
		case t.atEnd != nil && len(t.ms)-t.head <= n:
			h, err = t.atEnd.Clone()
			return h, len(t.ms) - t.head, err
		case t.atShared != nil && t.shared <= n:
			h, err = t.atShared.Clone()
			return h, t.shared, err
		}
		n = min(n, t.shared)
	}
	if h, err = newHash(); err == nil {
		_, err = h.Write([]byte(messagesMember))
	}
	return h, 0, err
}

// hashWriter writes a canonical object into a hash, member by member.
type hashWriter struct {
	hash hash.Cloner
	buf  []byte
	// open is set once there is a member.
	open bool
}

// A hash takes whatever is written.
func (w *hashWriter) text(b []byte)  { _, _ = w.hash.Write(b) }
func (w *hashWriter) write(s string) { w.buf = append(w.buf[:0], s...); w.text(w.buf) }

func (w *hashWriter) name(name string) {
	if w.open {
		w.write(`,"` + name + `":`)
	} else {
		w.write(`{"` + name + `":`)
	}
	w.open = true
}

// member writes a member in canonical form, unless it is null.
func (w *hashWriter) member(name string, text []byte) error {
	canonical, err := tape.Canonical(text)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if string(canonical) != "null" {
		w.name(name)
		w.text(canonical)
	}
	return nil
}

// message writes an element of an array of messages.
func (w *hashWriter) message(m *message.Message, first bool) (err error) {
	w.buf = w.buf[:0]
	if !first {
		w.buf = append(w.buf, ',')
	}
	if w.buf, err = m.Settle().AppendCanonical(w.buf); err == nil {
		w.text(w.buf)
	}
	return err
}
