package attribution

import (
	"errors"

	"github.com/tapedeck/tapedeck/internal/yamlfile"
)

// ParseConfig reads a [Config] from YAML. An error is one line that names the line
// and the field; fields that do not exist are errors too.
func ParseConfig(text []byte) (Config, error) {
	var c Config
	switch err := yamlfile.Decode(text, &c, c.Validate); {
	case errors.Is(err, yamlfile.ErrEmpty):
		return c, nil
	case err != nil:
		return Config{}, err
	}
	return c, nil
}
