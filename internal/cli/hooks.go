package cli

import (
	"fmt"
	"os"

	"github.com/tapedeck/tapedeck/hooks"
)

// hookTools is the environment that has the in-process tools of a command answered
// from the tape, until remove is called.
func (a *app) hookTools(f *sessionFlags) (env []string, remove func(), err error) {
	if f.noHooks {
		return nil, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "tape-hooks-")
	if err != nil {
		return nil, nil, fmt.Errorf("hooks: %w", err)
	}
	remove = func() {
		if err := os.RemoveAll(dir); err != nil {
			a.note("%s", err)
		}
	}
	if err := hooks.Write(dir); err != nil {
		remove()
		return nil, nil, err
	}
	return hooks.Environment(dir, a.Env), remove, nil
}
