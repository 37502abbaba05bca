// Package toolschema checks the arguments of calls against the JSON schemas of
// tools, as they stand on a tape or in the definitions of today.
//
// It promises that a schema reaches for nothing: references to files and servers
// are refused. Compiling costs about as much as parsing the schema, a check one
// parse of the arguments.
package toolschema

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// Schema is a compiled schema. The nil schema finds no fault.
type Schema struct{ compiled *jsonschema.Schema }

// refuse keeps a recorded schema from reaching for files and servers.
type refuse struct{}

func (refuse) Load(url string) (any, error) {
	return nil, fmt.Errorf("a recorded schema may not load %s", url)
}

// Compile makes a schema of JSON text.
func Compile(text []byte) (*Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(refuse{})
	const name = "tape:schema"
	if err := c.AddResource(name, doc); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(name)
	if err != nil {
		return nil, err
	}
	return &Schema{compiled}, nil
}

var english = message.NewPrinter(language.English)

// Fault names the first fault of arguments, such as "/amount: got string, want
// number"; "" when they fit, and when they are not JSON, which no schema can
// judge.
func (s *Schema) Fault(args []byte) string {
	if faults := s.Faults(args); len(faults) > 0 {
		return faults[0]
	}
	return ""
}

// Faults names all faults of arguments, at most [MaxFaults]; see [Schema.Fault].
func (s *Schema) Faults(args []byte) (faults []string) {
	if s == nil {
		return nil
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(args))
	if err != nil {
		return nil
	}
	var invalid *jsonschema.ValidationError
	if err := s.compiled.Validate(value); !errors.As(err, &invalid) {
		return nil
	}
	collect(invalid, &faults)
	return faults
}

// MaxFaults bounds the faults named of one call.
const MaxFaults = 20

// collect gathers the leaves of a validation error: what is above them says only
// that something below does not fit.
func collect(e *jsonschema.ValidationError, faults *[]string) {
	if len(*faults) >= MaxFaults {
		return
	}
	if len(e.Causes) == 0 {
		*faults = append(*faults, "/"+strings.Join(e.InstanceLocation, "/")+": "+e.ErrorKind.LocalizedString(english))
		return
	}
	for _, cause := range e.Causes {
		collect(cause, faults)
	}
}
