package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/go-viper/mapstructure/v2"
	"gopkg.in/yaml.v3"

	"github.com/tapedeck/tapedeck/internal/attribution"
	"github.com/tapedeck/tapedeck/internal/dialect"
)

// readingConfig are the sections of the tape_store extension that say how spans
// are read, with the names and defaults they have there.
type readingConfig struct {
	Translation dialect.Config     `mapstructure:"translation"`
	Attribution attribution.Config `mapstructure:"attribution"`
}

// readReading makes the options of a translation of a file, of the defaults where
// none is named.
func readReading(path string) (dialect.Options, error) {
	c := readingConfig{Translation: *dialect.DefaultConfig()}
	if path != "" {
		text, err := os.ReadFile(path)
		if err != nil {
			return dialect.Options{}, err
		}
		if err := c.parse(text); err != nil {
			return dialect.Options{}, fmt.Errorf("%s: %s", path, strings.Join(leaves(err, ""), "; "))
		}
	}
	attributor, err := attribution.New(c.Attribution)
	if err != nil {
		return dialect.Options{}, err
	}
	return dialect.Options{Config: &c.Translation, Attribution: attributor}, nil
}

// parse reads YAML over what is set, as a collector does: members of maps are
// added, lists take the place of lists, null changes nothing, and a name that does
// not exist is an error.
func (c *readingConfig) parse(text []byte) error {
	var doc any
	dec := yaml.NewDecoder(bytes.NewReader(text))
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		var several *yaml.TypeError
		if errors.As(err, &several) {
			return errors.New(strings.Join(several.Errors, "; "))
		}
		return errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return errors.New("more than one YAML document")
	}
	sections, ok := doc.(map[string]any)
	if !ok && doc != nil {
		return errors.New("not a map with the sections translation and attribution")
	}
	for _, name := range slices.Sorted(maps.Keys(sections)) {
		if name != "translation" && name != "attribution" {
			return fmt.Errorf("%q is not one of the sections translation and attribution", name)
		}
	}
	d, err := mapstructure.NewDecoder(&mapstructure.DecoderConfig{
		Result:      c,
		ErrorUnused: true,
		MatchName:   func(key, field string) bool { return key == field },
		DecodeHook: mapstructure.ComposeDecodeHookFunc(
			mapstructure.StringToSliceHookFunc(","), mapstructure.StringToTimeDurationHookFunc(), newList,
		),
	})
	if err != nil {
		return err
	}
	if err := d.Decode(sections); err != nil {
		// Without the heading above the list.
		var list interface{ Unwrap() []error }
		if errors.As(err, &list) {
			return errors.Join(list.Unwrap()...)
		}
		return err
	}
	faults := leaves(c.Translation.Validate(), "translation::")
	faults = append(faults, leaves(c.Attribution.Validate(), "attribution::")...)
	if len(faults) > 0 {
		return errors.New(strings.Join(faults, "; "))
	}
	return nil
}

// newList keeps the elements of a default from showing through where a list that is
// set has null.
func newList(from, to reflect.Value) (any, error) {
	if to.CanSet() && to.Kind() == reflect.Slice && from.Kind() == reflect.Slice && !from.IsNil() {
		to.Set(reflect.MakeSlice(to.Type(), from.Len(), from.Len()))
	}
	return from.Interface(), nil
}

// leaves are the texts of the errors that were joined to one, none for nil.
func leaves(err error, prefix string) []string {
	if err == nil {
		return nil
	}
	list, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []string{prefix + err.Error()}
	}
	var texts []string
	for _, e := range list.Unwrap() {
		texts = append(texts, leaves(e, prefix)...)
	}
	return texts
}
