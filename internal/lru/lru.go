// Package lru keeps what was used last, within a number of bytes.
//
// One lock guards it: a look-up is two map operations and a move in a list.
package lru

import (
	"container/list"
	"sync"
)

// Cache is safe for concurrent use.
type Cache[K comparable, V any] struct {
	max  int
	size func(V) int

	mu    sync.Mutex
	used  int
	order *list.List
	items map[K]*list.Element
}

type item[K comparable, V any] struct {
	key   K
	value V
	size  int
}

// New makes a cache of at most maxBytes, of which one value alone may take more.
// size gives the bytes of a value, which must not change while it is kept.
func New[K comparable, V any](maxBytes int, size func(V) int) *Cache[K, V] {
	return &Cache[K, V]{max: maxBytes, size: size, order: list.New(), items: map[K]*list.Element{}}
}

// Resize bounds what is kept from now on.
func (c *Cache[K, V]) Resize(maxBytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.max = maxBytes
	c.shrink()
}

// Get gives the value of a key, which then was used last.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.items[key]
	if !ok {
		return value, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*item[K, V]).value, true
}

// Put keeps a value, in place of what the key had.
func (c *Cache[K, V]) Put(key K, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.items[key]; ok {
		c.drop(e)
	}
	it := &item[K, V]{key: key, value: value, size: c.size(value)}
	c.items[key] = c.order.PushFront(it)
	c.used += it.size
	c.shrink()
}

// Remove forgets a key.
func (c *Cache[K, V]) Remove(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.items[key]; ok {
		c.drop(e)
	}
}

// Used is how many bytes are kept.
func (c *Cache[K, V]) Used() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.used
}

func (c *Cache[K, V]) shrink() {
	for c.used > c.max && c.order.Len() > 1 {
		c.drop(c.order.Back())
	}
}

func (c *Cache[K, V]) drop(e *list.Element) {
	it := c.order.Remove(e).(*item[K, V])
	delete(c.items, it.key)
	c.used -= it.size
}
