package yamlfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type file struct {
	Items []struct {
		Name  string `yaml:"name"`
		Count int    `yaml:"count"`
	} `yaml:"items"`
}

func TestErrorsNameThePlace(t *testing.T) {
	for name, c := range map[string]struct {
		text, want string
		faults     []error
	}{
		"good":             {"items: [{name: a}]", "", nil},
		"JSON":             {`{"items":[{"name":"a","count":1}]}`, "", nil},
		"nothing":          {"# a remark\n", "there is nothing in it", nil},
		"an unknown field": {"items:\n- nam: a\n", "line 2: field nam not found", nil},
		"a wrong type":     {"items:\n- name: a\n  count: many\n", "line 3: cannot unmarshal !!str `many`", nil},
		"no YAML":          {"items: [", "line 1: did not find expected node content", nil},
		"two documents":    {"items: []\n---\nitems: []\n", "more than one YAML document", nil},
		"a fault": {"items:\n- name: a\n- name: b\n", "line 3: items[1].name: taken",
			[]error{&FieldError{"items[1].name", errors.New("taken")}}},
		"several": {"items:\n- name: a\n- name: b\n", "line 2: items[0].count: missing; line 3: items[1].count: missing",
			[]error{&FieldError{"items[0].count", errors.New("missing")}, &FieldError{"items[1].count", errors.New("missing")}}},
	} {
		t.Run(name, func(t *testing.T) {
			var f file
			err := Decode([]byte(c.text), &f, func() error { return errors.Join(c.faults...) })
			if c.want == "" {
				require.NoError(t, err)
				assert.Equal(t, "a", f.Items[0].Name)
				return
			}
			require.ErrorContains(t, err, c.want)
			for _, fault := range c.faults {
				assert.ErrorIs(t, err, fault)
			}
		})
	}
}

func TestReadNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "items.yaml")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	err := Read(path, new(file), func() error { return nil })
	require.ErrorIs(t, err, ErrEmpty)
	require.ErrorContains(t, err, path)
	require.ErrorIs(t, Read(path+"-not", new(file), nil), os.ErrNotExist)
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("items:\n- name: a\n"), "items[0].name")
	f.Add([]byte("&a [*a]"), "a.b[1]")
	f.Fuzz(func(_ *testing.T, text []byte, at string) {
		_ = Decode(text, new(file), func() error { return &FieldError{at, errors.New("wrong")} })
	})
}
