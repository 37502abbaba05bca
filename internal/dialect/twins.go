package dialect

import (
	"strings"

	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// mergeTwins makes one call of the spans that several instrumentations, or
// both sides of a protocol, wrote about it.
func (r *run) mergeTwins() {
	r.mergeParts()
	r.mergeNestedTools()
	r.mergeParallel(KindTool, sameTool)
	r.mergeNestedModels()
	r.mergeParallel(KindModel, sameModel)
}

// mergeParts gives the parts of a tool call to the call around them. A part
// around nothing but the call, such as the server's request span, goes with it.
func (r *run) mergeParts() {
	for _, n := range r.calls(KindPart) {
		if up := n.over(KindPart, KindTool); up != nil {
			up.take(n)
		}
	}
}

// mergeNestedTools merges a tool call directly inside another of the same
// name and arguments. The outer span stands for the call: it is what the agent
// saw.
func (r *run) mergeNestedTools() {
	tools := r.calls(KindTool)
	for i := len(tools) - 1; i >= 0; i-- {
		n := tools[i]
		if up := n.over(KindPart, KindTool); up != nil && sameTool(up, n) {
			up.take(n)
		}
	}
}

// take merges a twin or a part into n.
func (n *node) take(o *node) {
	// An inner failure is the call's own only if the call has no good answer:
	// a retry inside a call is not its failure.
	if n.fail == nil && o.fail != nil && !n.call.Result.Present() && !n.call.OK {
		f := *o.fail
		f.Evidence = "child"
		n.fail = &f
	} else if n.fail != nil {
		n.fail = n.fail.merge(o.fail)
	}
	n.call.fill(o.call)
	n.ids = append(n.ids, o.ids...)
	o.kind, o.ids = KindPart, nil
}

// mergeParallel merges calls of two instrumentations that stand side by side:
// one interval holds the other, and nothing they say differs. Each call finds
// at most one twin of another origin, so that parallel equal calls stay apart.
func (r *run) mergeParallel(kind Kind, same func(a, b *node) bool) {
	calls := r.calls(kind)
	for i, a := range calls {
		if a.kind != kind {
			continue
		}
		for _, b := range calls[i+1:] {
			if b.start >= a.end {
				break
			}
			if b.kind != kind || a.origin() == b.origin() || b.under(a) || !related(a, b) || !same(a, b) {
				continue
			}
			outer, inner := a, b
			if b.start == a.start && b.end > a.end || !a.encloses(b) && b.encloses(a) {
				outer, inner = b, a
			}
			if !outer.encloses(inner) {
				continue
			}
			outer.take(inner)
			break
		}
	}
}

// related reports whether two calls side by side may be one: they have the same
// parent or the same id, or are the two sides of a protocol.
func related(a, b *node) bool {
	return a.ParentSpanID() == b.ParentSpanID() || a.call.ID != "" && a.call.ID == b.call.ID || a.call.Server != b.call.Server
}

// origin tells instrumentations and services apart.
func (n *node) origin() string {
	side := ""
	if n.call.Server {
		side = "server"
	}
	return n.Scope.Name() + "\x00" + serviceOf(n.Resource) + "\x00" + side
}

func (n *node) encloses(o *node) bool { return n.start <= o.start && n.end >= o.end }

// under reports whether the call o is around n.
func (n *node) under(o *node) bool {
	for up := n.near; up != nil; up = up.near {
		if up == o {
			return true
		}
	}
	return false
}

func sameTool(a, b *node) bool {
	x, y := a.call, b.call
	if x.ID != "" && y.ID != "" && x.ID != y.ID {
		return false
	}
	if !sameName(x.Tool, y.Tool) && !x.ClassName && !y.ClassName {
		return false
	}
	if x.ID != "" && x.ID == y.ID {
		return true
	}
	return sameArgs(x.Args, y.Args)
}

// sameName compares tool names that one side may prefix with its server or
// plugin.
func sameName(a, b string) bool {
	if a == b {
		return true
	}
	if len(a) < len(b) {
		a, b = b, a
	}
	rest, ok := strings.CutSuffix(a, b)
	return ok && b != "" && (strings.HasSuffix(rest, "_") || strings.HasSuffix(rest, "-") || strings.HasSuffix(rest, ".") || strings.HasSuffix(rest, "/"))
}

// sameArgs reports whether two readings of arguments may be of one call: equal,
// or one of them missing.
func sameArgs(a, b Content) bool {
	if !a.Present() || !b.Present() {
		return true
	}
	return equal(a.Value, b.Value)
}

// equal compares by value, without the order of members; null members do not
// count, as in keys.
func equal(a, b value.Value) bool {
	if a.Kind() != b.Kind() {
		return false
	}
	switch a.Kind() {
	case value.Array:
		x, y := a.Items(), b.Items()
		if len(x) != len(y) {
			return false
		}
		for i := range x {
			if !equal(x[i], y[i]) {
				return false
			}
		}
		return true
	case value.Object:
		return covers(a, b) && covers(b, a)
	}
	return a.Text() == b.Text()
}

func covers(a, b value.Value) bool {
	for _, m := range b.Members() {
		if m.Value.IsNull() {
			continue
		}
		v, ok := a.Get(m.Name)
		if !ok || !equal(v, m.Value) {
			return false
		}
	}
	return true
}

// mergeNestedModels merges a model call with the one it wraps. Of several
// inside, as a retry makes, the wrapper goes with the last, which gave the
// answer. Times are the inner ones: a wrapper may hold the tools as well.
func (r *run) mergeNestedModels() {
	inner := map[*node][]*node{}
	models := r.calls(KindModel)
	for _, n := range models {
		if up := n.over(KindOther, KindModel); up != nil {
			inner[up] = append(inner[up], n)
		}
	}
	for i := len(models) - 1; i >= 0; i-- {
		outer := models[i]
		within := inner[outer]
		if len(within) == 0 {
			continue
		}
		last := within[0]
		for _, n := range within[1:] {
			if n.end > last.end {
				last = n
			}
		}
		if outer.call.Silent {
			last.call.fill(outer.call)
			if len(last.call.Input) == 0 {
				pick(&last.call.Request.Why, outer.call.Request.Why)
			}
			outer.kind, outer.ids = KindOther, nil
			continue
		}
		for _, n := range within {
			// An earlier try is not part of the call that succeeded it.
			if n != last {
				n.up, n.near = outer.up, outer.near
			}
		}
		outer.start, outer.end = last.start, last.end
		outer.take(last)
	}
}

func sameModel(a, b *node) bool {
	x, y := a.call, b.call
	if x.Model != "" && y.Model != "" && x.Model != y.Model && x.Model != y.ResponseModel && x.ResponseModel != y.Model {
		return false
	}
	return x.Usage.Output == nil || y.Usage.Output == nil || *x.Usage.Output == *y.Usage.Output
}
