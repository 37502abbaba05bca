package tapestore

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"

	"github.com/tapedeck/tapedeck/internal/attribution"
	"github.com/tapedeck/tapedeck/internal/dialect"
	"github.com/tapedeck/tapedeck/internal/retention"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/confmap"
)

// Config says where the store is: in a directory or in a bucket.
type Config struct {
	// Directory is the store in a local directory.
	Directory DirectoryConfig `mapstructure:"directory"`
	// S3 is the store in a bucket. Given, it takes the place of the directory.
	S3 configoptional.Optional[S3Config] `mapstructure:"s3"`
	// Index says how rows get into the index.
	Index IndexConfig `mapstructure:"index"`
	// Retention says how long what is stored stays there.
	Retention retention.Config `mapstructure:"retention"`
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

var (
	_ component.Config    = (*Config)(nil)
	_ confmap.Unmarshaler = (*Config)(nil)
)

// Unmarshal implements confmap.Unmarshaler. A bucket replaces the default
// directory, but not one that is asked for.
func (c *Config) Unmarshal(conf *confmap.Conf) error {
	if err := conf.Unmarshal(c); err != nil {
		return err
	}
	if c.S3.HasValue() && !conf.IsSet("directory") {
		c.Directory = DirectoryConfig{}
	}
	return nil
}

// Validate checks what can be known before the store is opened.
func (c *Config) Validate() error {
	switch {
	case c.S3.HasValue() && c.Directory.Path != "":
		return errors.New("directory and s3 exclude each other: a store is in one place")
	case !c.S3.HasValue() && c.Directory.Path == "":
		return errors.New("directory::path must not be empty")
	case !c.S3.HasValue() && c.Index.Directory != "":
		return errIndexDirectory
	case c.S3.HasValue() && c.Retention.HasBounds():
		return errors.New("retention: max_bytes is for a store in a directory: a bucket has no end")
	}
	return nil
}

func createDefaultConfig() component.Config {
	return &Config{
		Directory:   DirectoryConfig{Path: defaultPath()},
		S3:          configoptional.Default(defaultS3()),
		Index:       defaultIndex(),
		Retention:   retention.DefaultConfig(),
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
