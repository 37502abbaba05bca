package tapereceiver

import (
	"crypto/sha256"
	"sync"
	"time"
)

// maxFirst is how many posted tapes are remembered: some 300 KB.
const maxFirst = 4096

// firsts remembers when tapes were posted first. A sender that lost the answer posts
// its tape again; were the spans of one without times later ones then, they would not
// be the same, and the calls would seem to have lasted from the first to the second.
type firsts struct {
	mu    sync.Mutex
	times map[[sha256.Size]byte]time.Time
	order [][sha256.Size]byte
	next  int
}

// of is when a tape of that hash was posted first, which is now where it is new or
// was forgotten.
func (f *firsts) of(sum [sha256.Size]byte, now time.Time) time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	if first, ok := f.times[sum]; ok {
		return first
	}
	if f.times == nil {
		f.times = map[[sha256.Size]byte]time.Time{}
	}
	if len(f.order) < maxFirst {
		f.order = append(f.order, sum)
	} else {
		delete(f.times, f.order[f.next])
		f.order[f.next] = sum
		f.next = (f.next + 1) % maxFirst
	}
	f.times[sum] = now
	return now
}
