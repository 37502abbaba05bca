package replay

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"

	"github.com/tapedeck/tapedeck/replay/rules"
	"github.com/tapedeck/tapedeck/tape"
)

// paramsMember holds the parameters of a model request.
const paramsMember = "params"

// said are the members of a model request that hold what is said. They are
// compared also if no record has them, so that no request is answered for its
// endpoint alone.
var said = []string{"messages", "input"}

// spoken are the members that the policy's names of parameters are not about.
var spoken = append([]string{"system", "tools"}, said...)

// scope is what of model calls is compared: what the tape recorded of them, or
// the parameters that the policy names.
type scope struct {
	model rules.Model
	// members and params are the names that a record has.
	members, params map[string]bool
}

// newScope looks over the model calls of a deck.
func newScope(model rules.Model, d *deck, args func(*step) json.RawMessage) *scope {
	sc := &scope{model: model, members: map[string]bool{}, params: map[string]bool{}}
	for i := range d.steps {
		if d.steps[i].record.KindOf() != tape.KindModel {
			continue
		}
		members, params := request(args(&d.steps[i]))
		for name, value := range members {
			sc.members[name] = sc.members[name] || !isNull(value)
		}
		for name, value := range params {
			sc.params[name] = sc.params[name] || !isNull(value)
		}
	}
	return sc
}

// request takes a model request apart; nil is no request, or no parameters.
func request(args json.RawMessage) (members, params map[string]json.RawMessage) {
	if json.Unmarshal(args, &members) != nil {
		return nil, nil
	}
	if json.Unmarshal(members[paramsMember], &params) != nil {
		params = nil
	}
	return members, params
}

func isNull(value json.RawMessage) bool { return string(value) == "null" }

// compared is a request without what is not compared, and the paths of that, in
// order.
func (sc *scope) compared(args json.RawMessage) (json.RawMessage, []string) {
	members, params := request(args)
	var left []string
	for name, value := range members {
		if name == paramsMember && params != nil || sc.hasMember(name) {
			continue
		}
		delete(members, name)
		if !isNull(value) {
			left = append(left, joinName("", name))
		}
	}
	for name, value := range params {
		if sc.hasParam(name) {
			continue
		}
		delete(params, name)
		if !isNull(value) {
			left = append(left, joinName(paramsMember, name))
		}
	}
	if len(left) == 0 {
		return args, nil
	}
	if params != nil {
		delete(members, paramsMember)
		if len(params) > 0 {
			members[paramsMember] = object(params)
		}
	}
	sort.Strings(left)
	return object(members), left
}

func (sc *scope) hasMember(name string) bool {
	switch {
	case slices.Contains(said, name):
		return true
	case sc.model.Params == nil || slices.Contains(spoken, name):
		return sc.members[name]
	}
	return slices.Contains(sc.model.Params, name)
}

func (sc *scope) hasParam(name string) bool {
	if sc.model.Params == nil {
		return sc.params[name]
	}
	return slices.Contains(sc.model.Params, name)
}

// object marshals members that came out of JSON, so they go back in.
func object(members map[string]json.RawMessage) json.RawMessage {
	text, _ := encode(members)
	return text
}

// why says why a path is not compared.
func (sc *scope) why(path string) string {
	if sc.model.Params == nil || slices.Contains(spoken, path) {
		return fmt.Sprintf("not compared: no record of the tape has %s", path)
	}
	return fmt.Sprintf("not compared: the policy does not name %s", path)
}
