package replay

import (
	"bytes"
	"hash/maphash"

	"github.com/tapedeck/tapedeck/tape"
)

// spellings finds a record by the very bytes of its arguments. A program that
// records and replays in the same words, as one in Go does, then needs no key for a hit.
type spellings map[uint64]int32

var spellingSeed = maphash.MakeSeed()

func spellingOf(kind tape.Kind, tool string, args []byte) uint64 {
	const odd = 0x9e3779b97f4a7c15
	h := maphash.Bytes(spellingSeed, args)
	return (h*odd^maphash.String(spellingSeed, tool))*odd ^ maphash.String(spellingSeed, string(kind))
}

// note makes a step known by its spelling; the first of a spelling counts.
func (l spellings) note(st *step, i int) {
	at := spellingOf(st.record.KindOf(), st.record.Tool, orNull(st.record.Args))
	if _, ok := l[at]; !ok {
		l[at] = int32(i)
	}
}

// like returns a record whose arguments are those of a call as it came, nil if there
// is none: the call has its key. What is found so needs no redaction, since what is on
// the tape is redacted and redaction leaves it alone; any other call goes the long way
// to its key. It needs no lock: what it reads never changes.
func (d *deck) like(c *call) *step {
	if !d.asSpelled[c.kind] {
		return nil
	}
	if st := d.spelled(c); st != nil {
		return st
	}
	return d.respelled(c)
}

// spelled returns a record with the very bytes of a call.
func (d *deck) spelled(c *call) *step {
	i, ok := d.spellings[spellingOf(c.kind, c.tool, c.args)]
	if !ok {
		return nil
	}
	st := &d.steps[i]
	if st.record.KindOf() != c.kind || st.record.Tool != c.tool || !bytes.Equal(orNull(st.record.Args), c.args) {
		return nil
	}
	return st
}

// respelled returns a record that differs from a call in white space, the order of
// members and the like.
func (d *deck) respelled(c *call) *step {
	var room [64]byte
	key, err := tape.AppendKey(room[:0], c.tool, c.args)
	if err != nil {
		return nil // The long way says what is wrong.
	}
	q := d.byKey[callKey{c.kind, string(key)}]
	if q == nil || !q.asSpelled {
		return nil
	}
	return &d.steps[q.steps[0]]
}
