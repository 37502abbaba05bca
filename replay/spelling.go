package replay

import (
	"bytes"
	"hash/maphash"

	"github.com/tapedeck/tapedeck/tape"
)

// spellings finds a record by the very bytes of its arguments. A program that
// records and replays in the same words, as one in Go does, then needs neither
// redaction nor a key for a hit: what is on the tape is redacted already, and
// redaction leaves it alone.
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

// spelled returns the key of a record with the very arguments of a call; ok is
// false if there is none. It needs no lock: what it reads never changes.
func (d *deck) spelled(c *call) (key string, ok bool) {
	i, ok := d.spellings[spellingOf(c.kind, c.tool, c.args)]
	if !ok {
		return "", false
	}
	st := &d.steps[i]
	if st.record.KindOf() != c.kind || st.record.Tool != c.tool || !bytes.Equal(orNull(st.record.Args), c.args) {
		return "", false
	}
	return st.key, true
}

// respelled returns the key of a call whose arguments are those of a record but for
// white space, the order of members and the like. These need a key and no redaction,
// for the reason above. Any other call goes the long way. It needs no lock either.
func (d *deck) respelled(c *call) (key string, ok bool) {
	key, err := tape.Key(c.tool, c.args)
	if err != nil {
		return "", false // The long way says what is wrong.
	}
	q := d.byKey[callKey{c.kind, key}]
	return key, q != nil && q.asSpelled
}
