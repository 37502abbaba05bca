package serve

import (
	"container/list"
	"context"
	"crypto/sha256"
	"net/http"
	"sync"
)

// maxRepeats bounds how many answers are kept for repetitions; the oldest goes
// first. An answer shares its result with the tape, so keeping it costs little.
const maxRepeats = 4096

// repeats gives repeated requests the answer of the first.
type repeats struct {
	mu    sync.Mutex
	byKey map[string]*list.Element
	// order lists entries, oldest first.
	order *list.List
}

type repeat struct {
	key    string
	body   [sha256.Size]byte
	done   chan struct{}
	answer *response
}

func newRepeats() *repeats {
	return &repeats{byKey: map[string]*list.Element{}, order: list.New()}
}

// do runs a request the first time its key is seen; later it waits for the
// first and gives its answer. The error is that of ctx.
func (r *repeats) do(ctx context.Context, key string, body []byte, run func() *response) (*response, error) {
	sum := sha256.Sum256(body)
	entry, first := r.enter(key, sum)
	if first {
		entry.answer = run()
		close(entry.done)
		return entry.answer, nil
	}
	if entry.body != sum {
		return failure(http.StatusUnprocessableEntity, "idempotency_key_reused", "the Idempotency-Key was used for another call"), nil
	}
	select {
	case <-entry.done:
		return entry.answer, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (r *repeats) enter(key string, sum [sha256.Size]byte) (entry *repeat, first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.byKey[key]; ok {
		return known.Value.(*repeat), false
	}
	entry = &repeat{key: key, body: sum, done: make(chan struct{})}
	r.byKey[key] = r.order.PushBack(entry)
	if r.order.Len() > maxRepeats {
		oldest := r.order.Remove(r.order.Front()).(*repeat)
		delete(r.byKey, oldest.key)
	}
	return entry, true
}
