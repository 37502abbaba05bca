package store

import (
	"container/list"
	"sync"
	"time"
)

// knownFor is for how long an object that was written is taken to be there. Who
// deletes what no fragment names must wait longer than that between finding it so
// and deleting it, and look again in between.
const knownFor = 30 * time.Minute

// maxKnown bounds the objects that are remembered, at about 250 bytes each.
const maxKnown = 16 << 10

// known remembers which objects this process has written or seen, so that what
// many runs share is sent once: bodies and policies.
type known struct {
	now func() time.Time

	mu    sync.Mutex
	order *list.List // of knownObject, the newest first
	items map[string]*list.Element
}

type knownObject struct {
	name string
	at   time.Time
}

func newKnown(now func() time.Time) *known {
	return &known{now: now, order: list.New(), items: map[string]*list.Element{}}
}

// has reports whether the object was there a moment ago.
func (k *known) has(name string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	e, ok := k.items[name]
	if !ok {
		return false
	}
	age := k.now().Sub(e.Value.(knownObject).at)
	if age < 0 || age >= knownFor {
		k.remove(e)
		return false
	}
	return true
}

// add remembers an object that was there at a time. The oldest makes room.
func (k *known) add(name string, at time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if e, ok := k.items[name]; ok {
		k.remove(e)
	}
	k.items[name] = k.order.PushFront(knownObject{name, at})
	if k.order.Len() > maxKnown {
		k.remove(k.order.Back())
	}
}

// forget is for an object that is found missing, or is deleted.
func (k *known) forget(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if e, ok := k.items[name]; ok {
		k.remove(e)
	}
}

func (k *known) remove(e *list.Element) {
	k.order.Remove(e)
	delete(k.items, e.Value.(knownObject).name)
}
