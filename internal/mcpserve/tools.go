package mcpserve

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/tapedeck/tapedeck/tape"
)

// Tools is what a server of a tape offers.
type Tools struct {
	// server is the one of several whose tools these are, "" for all.
	server    string
	list      []*mcp.Tool
	resources []*mcp.Resource
	prompts   []*mcp.Prompt
	// names leads from the name in the protocol to that on the tape, where they
	// differ.
	names map[string]string
}

// anything is the schema of a tool that the tape has calls of, but no definition.
var anything = json.RawMessage(`{"type":"object"}`)

// OfTape is what a tape has: the tools that the model was offered, in their order,
// then those that were called without. definitions, if there are any, take the place
// of the tape's, exactly.
func OfTape(t *tape.Tape, definitions []tape.Tool) *Tools {
	tools := &Tools{}
	known := map[string]bool{}
	add := func(name, description string, schema json.RawMessage) {
		if name == "" || known[name] {
			return
		}
		known[name] = true
		if !isObjectSchema(schema) {
			schema = anything
		}
		tools.list = append(tools.list, &mcp.Tool{Name: name, Description: description, InputSchema: schema})
	}
	given := definitions
	if len(given) == 0 && t.Manifest != nil {
		given = t.Manifest.Tools
	}
	for _, tool := range given {
		add(tool.Name, tool.Description, tool.Schema)
	}
	for i := range t.Records {
		switch r := &t.Records[i]; {
		case r.Kind != tape.KindTool && r.Kind != "":
		case r.Tool == "resources/read":
			tools.resource(r.Args)
		case r.Tool == "prompts/get":
			tools.prompt(r.Args)
		case len(definitions) == 0:
			add(r.Tool, "", nil)
		}
	}
	return tools
}

// isObjectSchema reports whether the protocol allows a schema for arguments.
func isObjectSchema(schema json.RawMessage) bool {
	var s struct {
		Type string `json:"type"`
	}
	return json.Unmarshal(schema, &s) == nil && s.Type == "object"
}

func (t *Tools) resource(args json.RawMessage) {
	var params struct {
		URI string `json:"uri"`
	}
	if json.Unmarshal(args, &params) != nil || params.URI == "" {
		return
	}
	for _, known := range t.resources {
		if known.URI == params.URI {
			return
		}
	}
	t.resources = append(t.resources, &mcp.Resource{URI: params.URI, Name: params.URI})
}

func (t *Tools) prompt(args json.RawMessage) {
	var params struct {
		Name      string            `json:"name"`
		Arguments map[string]string `json:"arguments"`
	}
	if json.Unmarshal(args, &params) != nil || params.Name == "" {
		return
	}
	for _, known := range t.prompts {
		if known.Name == params.Name {
			return
		}
	}
	prompt := &mcp.Prompt{Name: params.Name}
	for _, name := range slices.Sorted(maps.Keys(params.Arguments)) {
		prompt.Arguments = append(prompt.Arguments, &mcp.PromptArgument{Name: name})
	}
	t.prompts = append(t.prompts, prompt)
}

// Of is what one server offers: the tools whose names begin with its name in one of
// the ways that clients write that (mcp__github__search, github__search,
// github.search, github/search), under their own names; all tools if there are none.
func (t *Tools) Of(server string) *Tools {
	if server == "" {
		return t
	}
	of := &Tools{server: server, resources: t.resources, prompts: t.prompts, names: map[string]string{}}
	for _, tool := range t.list {
		for _, prefix := range []string{"mcp__" + server + "__", server + "__", server + ".", server + "/"} {
			if short, ok := strings.CutPrefix(tool.Name, prefix); ok && short != "" && of.names[short] == "" {
				own := *tool
				own.Name = short
				of.list = append(of.list, &own)
				of.names[short] = tool.Name
				break
			}
		}
	}
	if len(of.list) == 0 {
		return t
	}
	return of
}

// recorded is the name that a tool has on the tape.
func (t *Tools) recorded(name string) string {
	if full := t.names[name]; full != "" {
		return full
	}
	return name
}
