package tapestore

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"

	"github.com/tapedeck/tapedeck/internal/attribution"
	"github.com/tapedeck/tapedeck/internal/dialect"
	"go.opentelemetry.io/collector/component"
)

// Config says where the store is.
type Config struct {
	// Directory is the store in a local directory.
	Directory DirectoryConfig `mapstructure:"directory"`
	// Translation says what spans do not: which attributes hold what, which tools
	// have side effects, which results are failures. It is here, because whoever
	// decides about a run and whoever rebuilds its tape must read it alike.
	Translation dialect.Config `mapstructure:"translation"`
	// Attribution extends the rules by which failures get their class.
	Attribution attribution.Config `mapstructure:"attribution"`

	// prevent unkeyed literal initialization
	_ struct{}
}

// DirectoryConfig configures a store in a local directory.
type DirectoryConfig struct {
	// Path of the directory. It is made when it is missing, readable by its
	// owner alone. Several collectors may share one.
	Path string `mapstructure:"path"`

	// prevent unkeyed literal initialization
	_ struct{}
}

var _ component.Config = (*Config)(nil)

// Validate checks what can be known before the store is opened.
func (c *Config) Validate() error {
	if c.Directory.Path == "" {
		return errors.New("directory::path must not be empty")
	}
	return nil
}

func createDefaultConfig() component.Config {
	return &Config{
		Directory:   DirectoryConfig{Path: defaultPath()},
		Translation: *dialect.DefaultConfig(),
	}
}

// defaultPath is where a service of the system keeps its state.
func defaultPath() string {
	if runtime.GOOS == "windows" {
		return filepath.Join(os.Getenv("ProgramData"), "otelcol-tape", "store")
	}
	return "/var/lib/otelcol-tape/store"
}
