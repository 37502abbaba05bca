package attribution

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// schema checks arguments; a nil schema, which is one that could not be compiled,
// finds no fault.
type schema struct{ compiled *jsonschema.Schema }

// refuse keeps a recorded schema from reaching for files and servers.
type refuse struct{}

func (refuse) Load(url string) (any, error) {
	return nil, fmt.Errorf("a recorded schema may not load %s", url)
}

func compile(text []byte) *schema {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(refuse{})
	const name = "tape:schema"
	if err := c.AddResource(name, doc); err != nil {
		return nil
	}
	compiled, err := c.Compile(name)
	if err != nil {
		return nil
	}
	return &schema{compiled}
}

var english = message.NewPrinter(language.English)

// check names the first fault of the arguments, "" when they fit.
func (s *schema) check(args []byte) string {
	if s == nil {
		return ""
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(args))
	if err != nil {
		return ""
	}
	var invalid *jsonschema.ValidationError
	if err := s.compiled.Validate(value); !errors.As(err, &invalid) {
		return ""
	}
	for len(invalid.Causes) > 0 {
		invalid = invalid.Causes[0]
	}
	return "/" + strings.Join(invalid.InstanceLocation, "/") + ": " + invalid.ErrorKind.LocalizedString(english)
}
