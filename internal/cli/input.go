package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/tapedeck/tapedeck/tape"
)

// readTape reads the tape in a file or a bundle, or on standard input for "-".
func (a *app) readTape(path string) (*tape.Tape, error) {
	name, read := path, func() (*tape.Tape, error) {
		file, err := findTape(path)
		if err != nil {
			return nil, err
		}
		return file.read()
	}
	if path == "-" {
		name, read = "standard input", func() (*tape.Tape, error) {
			t, err := tape.ReadAll(a.In)
			if err != nil {
				err = fmt.Errorf("standard input: %w", err)
			}
			return t, err
		}
	}
	t, err := read()
	if err == nil && t.Empty() {
		return nil, fmt.Errorf("%s: %w", name, tape.ErrEmpty)
	}
	return t, err
}

// textArg is an argument as it stands, or standard input for "-".
func (a *app) textArg(arg string) ([]byte, error) {
	if arg != "-" {
		return []byte(arg), nil
	}
	return io.ReadAll(a.In)
}

// traceIDs reads several trace ids, so that nothing is done when one is none.
func traceIDs(words []string) ([]string, error) {
	ids := make([]string, len(words))
	for i, word := range words {
		var err error
		if ids[i], err = traceID(word); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// traceID reads a trace id as users paste it.
func traceID(s string) (string, error) {
	id := strings.ToLower(s)
	if len(id) != 32 || strings.Trim(id, "0123456789abcdef") != "" {
		return "", usage("%q is not a trace id, which has 32 hex digits", s)
	}
	if strings.Trim(id, "0") == "" {
		return "", usage("%q is not a trace id, which is never all zeros", s)
	}
	return id, nil
}
