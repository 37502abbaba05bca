package regress

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	tapeSuffix   = ".jsonl"
	expectSuffix = ".expect.yaml"
)

// ErrNoTapes is a set without a tape, which would pass whatever the code does.
var ErrNoTapes = errors.New("there is no tape (*.jsonl)")

// Case is one tape of a set.
type Case struct {
	// Name is the path of the tape without its suffix.
	Name string
	// Tape and Expect are the paths of the tape and of its expectations, which need
	// not exist.
	Tape, Expect string
	Expectation  Expectation
}

// ExpectPath is where the expectations of a tape are.
func ExpectPath(tape string) string { return strings.TrimSuffix(tape, tapeSuffix) + expectSuffix }

// Find lists the cases in files and directories, those in order of name, each once.
// Of a directory it is every *.jsonl at any depth whose path holds no hidden name. An
// expectation without a tape is an error: its tape may have been renamed.
func Find(paths []string) ([]Case, error) {
	var tapes []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			tapes = append(tapes, filepath.Clean(path))
			continue
		}
		inside, err := tapesIn(path)
		if err != nil {
			return nil, err
		}
		tapes = append(tapes, inside...)
	}
	var cases []Case
	seen := map[string]bool{}
	for _, tape := range tapes {
		if seen[tape] {
			continue
		}
		seen[tape] = true
		c := Case{Name: strings.TrimSuffix(tape, tapeSuffix), Tape: tape, Expect: ExpectPath(tape)}
		var err error
		if c.Expectation, err = ReadExpectation(c.Expect); err != nil {
			return nil, err
		}
		cases = append(cases, c)
	}
	return cases, nil
}

func tapesIn(dir string) (tapes []string, err error) {
	var expects []string
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path != dir && strings.HasPrefix(entry.Name(), "."):
			if entry.IsDir() {
				return fs.SkipDir
			}
		case entry.IsDir():
		case strings.HasSuffix(path, tapeSuffix):
			tapes = append(tapes, path)
		case strings.HasSuffix(path, expectSuffix):
			expects = append(expects, path)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, path := range expects {
		if !slices.Contains(tapes, strings.TrimSuffix(path, expectSuffix)+tapeSuffix) {
			return nil, fmt.Errorf("%s: there is no tape of that name beside it", path)
		}
	}
	if len(tapes) == 0 {
		return nil, fmt.Errorf("%s: %w", dir, ErrNoTapes)
	}
	return tapes, nil
}
