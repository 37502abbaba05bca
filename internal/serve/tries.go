package serve

import (
	"container/list"
	"crypto/sha256"
	"net/http"
	"strconv"
	"sync"
)

// tries tells requests that an SDK makes again from new ones of the same words,
// which are calls of their own. A request is a try of the one before it with the
// same path and body if
//
//   - it has the same Idempotency-Key;
//   - its SDK counts it as a retry ("x-stainless-retry-count"), unless the one
//     before was answered with a recorded failure and the tape has another answer:
//     then the recorded program tried again too;
//   - the one before was never read to its end, because the connection broke.
//
// Such a request gets the answer of the one before, and takes no record.
type tries struct {
	mu     sync.Mutex
	byBody map[[sha256.Size]byte]*list.Element
	// order lists tries, oldest first.
	order *list.List
}

// try is a request and its answer.
type try struct {
	tries *tries
	sum   [sha256.Size]byte
	// keyed and retry are set where the client says that it may be another try.
	keyed, retry bool

	// done is closed once there is an answer.
	done chan struct{}
	out  *outcome
	// broken is set once the answer could not be written to its end. It is guarded
	// by tries.mu.
	broken bool
}

func newTries() *tries {
	return &tries{byBody: map[[sha256.Size]byte]*list.Element{}, order: list.New()}
}

// enter notes a request, and finds the last one with the same words, nil if there was
// none.
func (t *tries) enter(r *http.Request, body []byte) (x, before *try) {
	hash := sha256.New()
	for _, text := range [...]string{r.URL.Path, "?", r.URL.RawQuery, "\n", r.Header.Get("Idempotency-Key"), "\n"} {
		_, _ = hash.Write([]byte(text))
	}
	_, _ = hash.Write(body)
	n, _ := strconv.Atoi(r.Header.Get("X-Stainless-Retry-Count"))
	x = &try{tries: t, keyed: r.Header.Get("Idempotency-Key") != "", retry: n > 0, done: make(chan struct{})}
	hash.Sum(x.sum[:0])

	t.mu.Lock()
	defer t.mu.Unlock()
	if known, ok := t.byBody[x.sum]; ok {
		before = known.Value.(*try)
		t.order.Remove(known)
	}
	t.byBody[x.sum] = t.order.PushBack(x)
	if t.order.Len() > maxRepeats {
		oldest := t.order.Remove(t.order.Front()).(*try)
		delete(t.byBody, oldest.sum)
	}
	return x, before
}

// do gives the answer of the request before where this is another try of it, else
// it asks for one. left says whether the tape has another. Nobody's leaving ends
// it, as the answer may be for the next try.
func (x *try) do(before *try, ask func() *outcome, left func() bool) *outcome {
	defer close(x.done)
	if before != nil && (x.retry || x.keyed || x.tries.isBroken(before)) {
		<-before.done
		if out := before.out; !x.retry || !out.recorded || !left() {
			x.out = out
			return out
		}
	}
	x.out = ask()
	return x.out
}

func (t *tries) isBroken(x *try) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return x.broken
}

// written notes what became of the answer.
func (x *try) written(err error) {
	x.tries.mu.Lock()
	defer x.tries.mu.Unlock()
	x.broken = err != nil
}
