package tapestore

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/extension/tapestore/internal/metadata"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/confmaptest"
)

func TestConfig(t *testing.T) {
	tests := map[string]struct {
		path    string
		loadErr string
		err     string
	}{
		"":          {path: defaultPath()},
		"elsewhere": {path: "/srv/tapes"},
		"empty":     {err: "directory::path must not be empty"},
		"unknown":   {loadErr: "compression"},
	}
	conf, err := confmaptest.LoadConf(filepath.Join("testdata", "config.yaml"))
	require.NoError(t, err)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			sub, err := conf.Sub(component.NewIDWithName(metadata.Type, name).String())
			require.NoError(t, err)
			cfg := NewFactory().CreateDefaultConfig()
			err = sub.Unmarshal(cfg)
			if test.loadErr != "" {
				require.ErrorContains(t, err, test.loadErr)
				return
			}
			require.NoError(t, err)
			err = confmap.Validate(cfg)
			if test.err != "" {
				require.EqualError(t, err, test.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.path, cfg.(*Config).Directory.Path)
		})
	}
}
