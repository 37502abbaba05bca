package main

import (
	"go/parser"
	"go/token"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"gopkg.in/yaml.v3"

	"github.com/tapedeck/tapedeck/internal/buildinfo"
)

// manifest is what this test reads of builder-config.yaml.
type manifest struct {
	Dist       struct{ Name, Version, Description string }
	Extensions []module
	Receivers  []module
	Processors []module
	Exporters  []module
	Connectors []module
	Providers  []module
}

type module struct{ Gomod, Import string }

func (m module) path() string {
	if m.Import != "" {
		return m.Import
	}
	path, _, _ := strings.Cut(m.Gomod, " ")
	return path
}

const ours = "github.com/tapedeck/tapedeck"

func readManifest(t *testing.T) manifest {
	t.Helper()
	text, err := os.ReadFile("../../builder-config.yaml")
	require.NoError(t, err)
	var m manifest
	require.NoError(t, yaml.Unmarshal(text, &m))
	return m
}

// The generated code links exactly what the manifest lists, in the versions that
// go.mod builds with.
func TestManifestAndCodeAgree(t *testing.T) {
	m := readManifest(t)
	factories, err := components()
	require.NoError(t, err)
	goMod, err := os.ReadFile("../../go.mod")
	require.NoError(t, err)

	var want []string
	for name, c := range map[string]struct {
		listed []module
		linked map[component.Type]string
	}{
		"extensions": {m.Extensions, factories.ExtensionModules},
		"receivers":  {m.Receivers, factories.ReceiverModules},
		"processors": {m.Processors, factories.ProcessorModules},
		"exporters":  {m.Exporters, factories.ExporterModules},
		"connectors": {m.Connectors, factories.ConnectorModules},
	} {
		var listed []string
		for _, mod := range c.listed {
			listed = append(listed, mod.Gomod)
			want = append(want, mod.path())
			if !strings.HasPrefix(mod.Gomod, ours+" ") {
				assert.Contains(t, string(goMod), "\t"+mod.Gomod+"\n", "go.mod and manifest name one version")
			}
		}
		linked := slices.Collect(maps.Values(c.linked))
		slices.Sort(linked)
		assert.ElementsMatch(t, listed, slices.Compact(linked), name)
	}
	assert.ElementsMatch(t, want, componentImports(t, "components.go"))

	var providers []string
	for _, mod := range m.Providers {
		providers = append(providers, mod.path())
	}
	assert.ElementsMatch(t, providers, componentImports(t, "main.go"))

	source, err := os.ReadFile("main.go")
	require.NoError(t, err)
	for _, s := range []string{m.Dist.Name, m.Dist.Description} {
		assert.Contains(t, string(source), strconv.Quote(s))
	}
	assert.Equal(t, m.Dist.Version, buildinfo.Release)
}

// componentImports lists the named imports of a generated file: those of the
// collector's framework carry no name.
func componentImports(t *testing.T, file string) (paths []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	require.NoError(t, err)
	for _, spec := range f.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		require.NoError(t, err)
		if spec.Name != nil && !strings.HasSuffix(path, "/otelconftelemetry") {
			paths = append(paths, path)
		}
	}
	return paths
}
