package llm

import (
	"math"
	"strconv"
	"strings"

	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// paramNames gives the parameters of the providers, and of the instrumentations,
// one name each.
var paramNames = map[string]string{
	"maxtokens": "max_tokens", "maxcompletiontokens": "max_tokens", "maxoutputtokens": "max_tokens",
	"temperature": "temperature", "topp": "top_p", "topk": "top_k", "seed": "seed",
	"stop": "stop_sequences", "stopsequences": "stop_sequences",
	"frequencypenalty": "frequency_penalty", "presencepenalty": "presence_penalty",
	"n": "n", "choicecount": "n", "candidatecount": "n",
	"toolchoice": "tool_choice", "responseformat": "response_format",
	"paralleltoolcalls": "parallel_tool_calls", "reasoningeffort": "reasoning_effort",
}

var separators = strings.NewReplacer("_", "", "-", "", ".", "")

// Param is the neutral name of a parameter, the name itself where it has none.
func Param(name string) string {
	if known, ok := paramNames[strings.ToLower(separators.Replace(name))]; ok {
		return known
	}
	return name
}

// Comparable reports a parameter that a request of some provider can carry, by
// its neutral name. What else records name beside them is the instrumentation's.
func Comparable(name string) bool {
	known, ok := paramNames[strings.ToLower(separators.Replace(name))]
	return ok && known == name
}

// params are the members of a request that are parameters.
func params(v value.Value) []value.Member { return parameters(v) }

// parameters are the parameters among some members, by their neutral names. One
// that a provider takes for granted is left out: some instrumentations record what
// the provider says it was, others what the program said.
func parameters(v value.Value) []value.Member {
	var out []value.Member
	for _, m := range v.Members() {
		name := Param(m.Name)
		if !Comparable(name) || m.Value.IsNull() || granted(name, m.Value) {
			continue
		}
		if name == "stop_sequences" && m.Value.Kind() == value.String {
			m.Value = value.List(m.Value)
		}
		out = append(out, value.M(name, plainNumber(m.Value)))
	}
	return out
}

// plainNumber writes 1.0 as 1: clients in JavaScript cannot tell them apart.
func plainNumber(v value.Value) value.Value {
	if v.Kind() != value.Number {
		return v
	}
	n, err := strconv.ParseFloat(v.JSON(), 64)
	if err != nil || n != math.Trunc(n) || math.Abs(n) > 1<<53 {
		return v
	}
	return value.Int(int64(n))
}

// granted reports a parameter that says what holds without it.
func granted(name string, v value.Value) bool {
	switch name {
	case "parallel_tool_calls":
		return v.Kind() == value.Bool && v.Truthy()
	case "tool_choice":
		return v.Str() == "auto" || v.Only("type") && v.At("type").Str() == "auto"
	case "response_format":
		return v.Only("type") && v.At("type").Str() == "text"
	case "n", "temperature", "top_p":
		n, err := strconv.ParseFloat(v.JSON(), 64)
		return err == nil && n == 1
	case "frequency_penalty", "presence_penalty":
		n, err := strconv.ParseFloat(v.JSON(), 64)
		return err == nil && n == 0
	}
	return false
}
