package dialect

import (
	"strings"

	"github.com/tapedeck/tapedeck/internal/dialect/message"
	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// history remembers the conversations a run has shown so far. Every model call
// repeats the whole of its conversation, so its text begins as an earlier one
// did; what is the same is not read, written or held again.
type history struct {
	recent [histories]conversation
	next   int
}

// histories is how many conversations are remembered: agents that take turns
// have one each.
const histories = 4

// conversation is an array of messages as text, with the end of each element.
type conversation struct {
	text string
	ends []int
	ms   []message.Message
}

// read reads an array of messages. Text that is no array of objects is left to
// the caller.
func (h *history) read(text string) ([]message.Message, bool) {
	if !strings.HasPrefix(text, "[{") {
		return nil, false
	}
	var base *conversation
	same := 0
	for i := range h.recent {
		if n := h.recent[i].shared(text); n > same {
			base, same = &h.recent[i], n
		}
	}
	var c conversation
	from := 0
	if base != nil {
		// Three-index slices: what follows must not be written over what the
		// other conversation has there.
		c.ends, c.ms = base.ends[:same:same], base.ms[:same:same]
		from = c.ends[same-1]
	}
	items, ends, err := value.ParseItems(text, from)
	if err != nil {
		return nil, false
	}
	for _, item := range items {
		if item.Kind() != value.Object {
			return nil, false
		}
	}
	more := message.Read(value.List(items...))
	if len(more) != len(items) {
		return nil, false
	}
	c.text, c.ends = text, append(c.ends, ends...)
	c.ms = append(c.ms, more...)
	message.Settle(c.ms)
	h.recent[h.next] = c
	h.next = (h.next + 1) % histories
	return c.ms, true
}

// shared is how many elements another text has in common from its beginning.
func (c *conversation) shared(text string) int {
	if c.text == "" {
		return 0
	}
	common := commonPrefix(c.text, text)
	n := len(c.ends)
	for n > 0 && c.ends[n-1] >= common {
		n--
	}
	return n
}

func commonPrefix(a, b string) int {
	const step = 4096
	n := min(len(a), len(b))
	i := 0
	for i+step <= n && a[i:i+step] == b[i:i+step] {
		i += step
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}
