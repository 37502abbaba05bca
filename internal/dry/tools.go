package dry

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"gopkg.in/yaml.v3"

	"github.com/tapedeck/tapedeck/tape"
)

// ReadTools reads tool definitions from a JSON or YAML file; see [ParseTools]. An
// error names the file and the place in it.
func ReadTools(name string) ([]tape.Tool, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	tools, err := ParseTools(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return tools, nil
}

// ParseTools reads tool definitions as those who make them write them: a list, or
// an object with the member tools that holds one, as in the manifest of a tape, an
// answer of MCP's tools/list or a request to a model. A definition has a name and
// a schema under schema, input_schema, inputSchema or parameters, and may be inside
// a member function. Something without a name, and no definition at all, are
// errors.
func ParseTools(text []byte) ([]tape.Tool, error) {
	var doc any
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	if object, ok := doc.(map[string]any); ok {
		if result, ok := object["result"].(map[string]any); ok {
			object = result
		}
		doc = object["tools"]
	}
	list, ok := doc.([]any)
	if !ok {
		return nil, errors.New("want a list of tools, or an object with the member tools")
	}
	if len(list) == 0 {
		return nil, errors.New("there is no tool in it")
	}
	tools := make([]tape.Tool, 0, len(list))
	for i, item := range list {
		at := fmt.Sprintf("tools[%d]", i)
		object, ok := item.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%s: want an object", at)
		}
		if declared, ok := object["functionDeclarations"].([]any); ok {
			for j, d := range declared {
				tool, err := definition(d, fmt.Sprintf("%s.functionDeclarations[%d]", at, j))
				if err != nil {
					return nil, err
				}
				tools = append(tools, tool)
			}
			continue
		}
		if function, ok := object["function"].(map[string]any); ok {
			object, at = function, at+".function"
		}
		tool, err := definition(object, at)
		if err != nil {
			return nil, err
		}
		tools = append(tools, tool)
	}
	return tools, nil
}

func definition(item any, at string) (tool tape.Tool, err error) {
	object, _ := item.(map[string]any)
	tool.Name, _ = object["name"].(string)
	if tool.Name == "" {
		return tool, fmt.Errorf("%s: the name is missing", at)
	}
	tool.Description, _ = object["description"].(string)
	tool.SchemaVersion, _ = object["schema_version"].(string)
	for _, member := range []string{"schema", "input_schema", "inputSchema", "parameters", "parametersJsonSchema"} {
		schema, ok := object[member]
		if !ok || schema == nil {
			continue
		}
		if tool.Schema, err = json.Marshal(schema); err != nil {
			return tool, fmt.Errorf("%s.%s: %w", at, member, err)
		}
		return tool, nil
	}
	return tool, nil
}
