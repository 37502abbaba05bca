package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	"github.com/spf13/cobra"

	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

// errNoBody is a body that a place does not have.
var errNoBody = errors.New("no such body")

// bodiesFlag adds --bodies, for every verb that replays or says what a replay would do.
func bodiesFlag(cmd *cobra.Command, to *string) {
	cmd.Flags().StringVar(to, "bodies", "", "directory of the bodies that the tape holds by reference (default bodies/ beside it)")
}

// bodiesOf are where the bodies are that a tape holds by reference: in --bodies or else
// beside the tape, then in the collector or store that the command line names.
func (a *app) bodiesOf(file *tapeFile, dir string) (bodySources, error) {
	var sources bodySources
	switch {
	case dir != "":
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return nil, usage("--bodies: %s is not a directory", dir)
		}
		sources = bodySources{dirBodies(dir)}
	case file.packed != nil:
		sources = bodySources{packedBodies(file.packed.Bodies)}
	default:
		sources = bodySources{dirBodies(filepath.Join(filepath.Dir(file.path), "bodies"))}
	}
	if a.server != "" || a.store != "" {
		sources = append(sources, &a.stored)
	}
	return sources, nil
}

// fetchBodies is what a replay of a tape would fetch its bodies with, of a file or a
// trace id.
func (a *app) fetchBodies(ctx context.Context, arg, dir string) (func(tape.Body) ([]byte, error), error) {
	file, err := findTape(arg)
	if err != nil {
		return nil, err
	}
	sources, err := a.bodiesOf(file, dir)
	return func(body tape.Body) ([]byte, error) { return sources.Body(ctx, body) }, err
}

// bodySources are asked one after the other. A session checks the hash of what they give.
type bodySources []replay.BodySource

func (s bodySources) Body(ctx context.Context, body tape.Body) ([]byte, error) {
	for _, source := range s {
		data, err := source.Body(ctx, body)
		if !errors.Is(err, errNoBody) {
			return data, err
		}
	}
	return nil, fmt.Errorf("held by reference, and body %s is not in %s", body.SHA256, s)
}

// String says where bodies were looked for, and where else they may be.
func (s bodySources) String() string {
	text := fmt.Sprint(s[0])
	if len(s) > 1 {
		return text + " and not in the store"
	}
	return text + ": pull the tape with its bodies, or say --bodies DIR, --server or --store"
}

// dirBodies is a directory with a file for each body, named by its hash.
type dirBodies string

func (d dirBodies) Body(_ context.Context, body tape.Body) ([]byte, error) {
	if filepath.Base(body.SHA256) != body.SHA256 {
		return nil, errNoBody // The tape names it, and may not lead elsewhere.
	}
	data, err := os.ReadFile(filepath.Join(string(d), body.SHA256))
	if errors.Is(err, os.ErrNotExist) {
		return nil, errNoBody
	}
	return data, err
}

// packedBodies are those of a packed bundle.
type packedBodies map[string][]byte

func (p packedBodies) Body(_ context.Context, body tape.Body) ([]byte, error) {
	data, ok := p[body.SHA256]
	if !ok {
		return nil, errNoBody
	}
	return data, nil
}

func (p packedBodies) String() string { return "the bundle" }

// storedBodies are those that the API of --server or --store has, which is opened for
// the first of them and stays so until the command ends.
type storedBodies struct {
	app  *app
	once sync.Once
	api  *client
	done func()
	err  error
}

func (s *storedBodies) Body(ctx context.Context, body tape.Body) ([]byte, error) {
	s.once.Do(func() { s.api, s.done, s.err = s.app.client() })
	if s.err != nil {
		return nil, s.err
	}
	resp, err := s.api.do(ctx, http.MethodGet, "/v1/blobs/sha256/"+url.PathEscape(body.SHA256), nil)
	var refused *apiError
	if errors.As(err, &refused) && refused.status == http.StatusNotFound {
		return nil, errNoBody
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	return io.ReadAll(resp.Body)
}

// close ends what was opened; no body is fetched any more.
func (s *storedBodies) close() {
	if s.done != nil {
		s.done()
	}
}
