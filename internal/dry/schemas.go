package dry

import (
	"github.com/tapedeck/tapedeck/internal/toolschema"
	"github.com/tapedeck/tapedeck/tape"
)

// schemas are the schemas of one time by tool, compiled when the first call asks.
type schemas struct {
	when     string
	tools    map[string]*tape.Tool
	compiled map[string]*toolschema.Schema
	unusable []Unusable
}

func newSchemas(when string, tools []tape.Tool) *schemas {
	s := &schemas{when: when, tools: make(map[string]*tape.Tool, len(tools)), compiled: map[string]*toolschema.Schema{}}
	for i := range tools {
		// A model may be given one tool many times: the last definition counts.
		s.tools[tools[i].Name] = &tools[i]
	}
	return s
}

// check checks the arguments of a tool call.
func (s *schemas) check(rec *tape.Record) *Check {
	tool := s.tools[rec.Tool]
	switch {
	case tool == nil && s.when == "now":
		return &Check{Status: Gone, Why: "the tool is not among those of now"}
	case tool == nil:
		return &Check{Status: NotKnown, SchemaVersion: rec.SchemaVersion, Why: "the tape has no definition of the tool"}
	case len(tool.Schema) == 0:
		return &Check{Status: NotKnown, SchemaVersion: tool.SchemaVersion, Why: "the definition has no schema"}
	}
	c := &Check{Status: Fits, SchemaVersion: tool.SchemaVersion}
	schema := s.of(tool)
	switch {
	case schema == nil:
		c.Status, c.Why = NotKnown, "the schema cannot be used"
	case len(rec.Args) == 0 && rec.Fidelity == tape.FidelityAbsent:
		c.Status, c.Why = NotKnown, "the arguments were never captured"
	case len(rec.Args) == 0 && len(rec.Bodies) > 0:
		c.Status, c.Why = NotKnown, "the arguments are held by reference"
	case rec.Fidelity == tape.FidelityTruncated:
		c.Status, c.Why = NotKnown, "the arguments may be cut"
	default:
		args := rec.Args
		if len(args) == 0 {
			args = []byte("null")
		}
		c.Faults = schema.Faults(args)
		if len(c.Faults) > 0 {
			c.Status = Misfit
		}
		if c.Status == Misfit && redactedArgs(rec) {
			// A placeholder stands where there may have been a number.
			c.Status, c.Why = NotKnown, "a redacted value stands in the arguments"
		}
	}
	return c
}

// of compiles a schema once; nil is one that cannot be.
func (s *schemas) of(tool *tape.Tool) *toolschema.Schema {
	schema, known := s.compiled[tool.Name]
	if !known {
		var err error
		if schema, err = toolschema.Compile(tool.Schema); err != nil {
			s.unusable = append(s.unusable, Unusable{Tool: tool.Name, When: s.when, Why: err.Error()})
		}
		s.compiled[tool.Name] = schema
	}
	return schema
}

func redactedArgs(rec *tape.Record) bool {
	for _, path := range rec.Redacted {
		if len(path) >= 4 && path[:4] == "args" {
			return true
		}
	}
	return false
}
