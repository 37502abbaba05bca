package store

import (
	"container/list"
	"sync"
)

// cache keeps what was used last, up to a number of bytes. What it keeps never
// changes, because a name in the index stands for one content.
type cache[K comparable, V any] struct {
	max  int
	size func(V) int

	mu    sync.Mutex
	used  int
	order *list.List
	items map[K]*list.Element
}

type cached[K comparable, V any] struct {
	key   K
	value V
	size  int
}

func newCache[K comparable, V any](maxBytes int, size func(V) int) *cache[K, V] {
	return &cache[K, V]{max: maxBytes, size: size, order: list.New(), items: map[K]*list.Element{}}
}

func (c *cache[K, V]) get(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.items[key]
	if !ok {
		return value, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*cached[K, V]).value, true
}

func (c *cache[K, V]) put(key K, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.items[key]; ok {
		return
	}
	item := &cached[K, V]{key: key, value: value, size: c.size(value)}
	c.items[key] = c.order.PushFront(item)
	c.used += item.size
	for c.used > c.max && c.order.Len() > 1 {
		last := c.order.Remove(c.order.Back()).(*cached[K, V])
		delete(c.items, last.key)
		c.used -= last.size
	}
}
