package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/go-viper/mapstructure/v2"
	"gopkg.in/yaml.v3"

	"github.com/tapedeck/tapedeck/internal/retention"
)

// readRetention reads the section retention of a file: at its top, or in the one
// extension tape_store of the configuration of a collector. Variables in that are not
// replaced.
func readRetention(path string) (*retention.Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, usage("%w", err)
	}
	section, err := retentionSection(text)
	if err != nil {
		return nil, usage("%s: %w", path, err)
	}
	c := retention.DefaultConfig()
	d, err := mapstructure.NewDecoder(&mapstructure.DecoderConfig{
		Result: &c, ErrorUnused: true,
		MatchName:  func(key, field string) bool { return key == field },
		DecodeHook: mapstructure.ComposeDecodeHookFunc(mapstructure.TextUnmarshallerHookFunc(), mapstructure.StringToTimeDurationHookFunc(), newList),
	})
	if err != nil {
		return nil, err
	}
	err = d.Decode(section)
	var list interface{ Unwrap() []error }
	if errors.As(err, &list) {
		// Without the heading above the list.
		err = errors.Join(list.Unwrap()...)
	}
	if err == nil {
		err = c.Validate()
	}
	if err != nil {
		return nil, usage("%s: retention::%s", path, strings.Join(leaves(err, ""), "; retention::"))
	}
	return &c, nil
}

// retentionSection finds the section in a document.
func retentionSection(text []byte) (any, error) {
	var doc map[string]any
	dec := yaml.NewDecoder(bytes.NewReader(text))
	if err := dec.Decode(&doc); err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if section, ok := doc["retention"]; ok {
		return section, nil
	}
	extensions, _ := doc["extensions"].(map[string]any)
	var found []string
	for name := range maps.Keys(extensions) {
		if name == "tape_store" || strings.HasPrefix(name, "tape_store/") {
			found = append(found, name)
		}
	}
	switch len(found) {
	case 0:
		return nil, errors.New("no section retention, and no extension tape_store that could have one")
	case 1:
		section, _ := extensions[found[0]].(map[string]any)
		return section["retention"], nil
	default:
		slices.Sort(found)
		return nil, fmt.Errorf("several stores: %s", strings.Join(found, ", "))
	}
}
