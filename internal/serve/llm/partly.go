package llm

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tapedeck/tapedeck/internal/dialect/message"
	"github.com/tapedeck/tapedeck/internal/dialect/value"
	"github.com/tapedeck/tapedeck/tape"
)

// What of a request was not compared, as reports say it.
const (
	leftEarlier = "messages: those before what the tape recorded"
	leftCut     = "messages: what was cut from texts"
	leftMedia   = "messages: media"
)

// leaf is one part of a conversation with the role it was said in.
type leaf struct {
	role string
	part *message.Part
}

func leaves(c *Conversation) (out []leaf) {
	for i := range c.System {
		out = append(out, leaf{"system", &c.System[i]})
	}
	for i := range c.Messages {
		for k := range c.Messages[i].Parts {
			out = append(out, leaf{c.Messages[i].Role, &c.Messages[i].Parts[k]})
		}
	}
	return out
}

// partly reports whether a live request is what a record holds a part of, and
// what of it was not compared. Tools and parameters must be the same.
func partly(r *tape.Record, recorded, live *Conversation, tail bool) (left []string, ok bool) {
	if !slices.Equal(recorded.Tools, live.Tools) || !sameParams(recorded.Params, live.Params) {
		return nil, false
	}
	want, have := leaves(recorded), leaves(live)
	note := func(what string) {
		if !slices.Contains(left, what) {
			left = append(left, what)
		}
	}
	if !slices.ContainsFunc(want, isMedia) && slices.ContainsFunc(have, isMedia) {
		have = slices.DeleteFunc(have, isMedia)
		note(leftMedia)
	}
	if tail && len(have) > len(want) {
		// The system prompt stands at the head of both.
		n := len(recorded.System)
		if n > 0 && n != len(live.System) {
			return nil, false
		}
		have = slices.Concat(have[:n], have[len(have)-(len(want)-n):])
		note(leftEarlier)
	}
	if len(want) != len(have) || len(want) == 0 {
		return nil, false
	}
	same := comparison{cut: r.Fidelity == tape.FidelityTruncated, to: map[string]string{}, from: map[string]string{}}
	for i := range want {
		if want[i].role != have[i].role || !same.parts(want[i].part, have[i].part) {
			return nil, false
		}
	}
	if same.cuts {
		note(leftCut)
	}
	if same.media {
		note(leftMedia)
	}
	return left, true
}

func isMedia(l leaf) bool { return l.part.Type == message.Media }

func sameParams(a, b []value.Member) bool {
	text := func(list []value.Member) []byte {
		canonical, _ := tape.Canonical(value.Obj(list...).Append(nil))
		return canonical
	}
	return bytes.Equal(text(a), text(b))
}

// comparison compares the parts of two conversations in order.
type comparison struct {
	// cut is set where the record says that something of it was cut.
	cut bool
	// to and from are the ids that stand for each other.
	to, from map[string]string
	// cuts and media are set once a cut text, or a medium without its data, was
	// taken for the whole one.
	cuts, media bool
}

func (c *comparison) parts(a, b *message.Part) bool {
	if a.Type != b.Type || !c.ids(a.ID, b.ID) {
		return false
	}
	switch a.Type {
	case message.Reasoning:
		return signature(a) == signature(b) && c.text(a.Text, b.Text)
	case message.Text:
		return c.text(a.Text, b.Text)
	case message.ToolCall:
		return a.Name == b.Name && c.value(a.Args, b.Args)
	case message.ToolReply:
		return (a.Name == b.Name || a.Name == "" || b.Name == "") && c.value(a.Result, b.Result)
	case message.Media:
		if a.Raw.Only("sha256") || a.Raw.Only("uri") {
			return c.value(a.Raw, b.Raw)
		}
		c.media = true
		return true
	}
	return c.value(a.Raw, b.Raw)
}

// ids reports whether two ids can stand for the same call. One that a side does
// not have says nothing.
func (c *comparison) ids(a, b string) bool {
	if a == "" || b == "" {
		return true
	}
	if c.to[a] == "" && c.from[b] == "" {
		c.to[a], c.from[b] = b, a
	}
	return c.to[a] == b && c.from[b] == a
}

func (c *comparison) value(a, b value.Value) bool {
	if a.Kind() == value.String {
		live := b.JSON()
		if b.Kind() == value.String {
			live = b.Str()
		}
		return c.text(a.Str(), live)
	}
	x, err := tape.Canonical(a.Append(nil))
	if err != nil {
		return false
	}
	y, err := tape.Canonical(b.Append(nil))
	return err == nil && bytes.Equal(x, y)
}

// text compares a recorded text, which may be the beginning of the live one.
func (c *comparison) text(recorded, live string) bool {
	recorded, live = strings.TrimSpace(recorded), strings.TrimSpace(live)
	if recorded == live {
		return true
	}
	head, marked := uncut(recorded, c.cut)
	if !marked && !c.cut || head == "" || len(live) <= len(head) || !strings.HasPrefix(live, head) {
		return false
	}
	c.cuts = true
	return true
}

// marks are what instrumentations write where they cut a text.
var marks = []string{"...[TRUNCATED", "...[truncated", "…[truncated", "[truncated]", "... (truncated)", "<truncated>"}

// uncut is what comes before the mark of a cut. Dots are one where it is known
// that there was a cut: people write them too.
func uncut(s string, known bool) (head string, marked bool) {
	const tail = 80
	from := max(0, len(s)-tail)
	for _, mark := range marks {
		if i := strings.LastIndex(s[from:], mark); i >= 0 {
			return s[:from+i], true
		}
	}
	for _, dots := range []string{"…", "..."} {
		if head, ok := strings.CutSuffix(s, dots); ok && known {
			return head, true
		}
	}
	return s, false
}
