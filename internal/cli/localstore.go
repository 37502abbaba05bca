package cli

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/tapedeck/tapedeck/internal/api"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/dir"
)

// storeClient gives the API over a store read in place: the handler of the
// exporter, called without a socket, so that both answer alike.
func (a *app) storeClient() (*client, func(), error) {
	backend, err := a.backend()
	if err != nil {
		return nil, nil, err
	}
	st, err := store.Open(backend, store.Options{
		OnDamaged: func(name string, err error) { a.note("%s: %s: %v", a.store, name, err) },
	})
	if err != nil {
		return nil, nil, missing("--store: %w", err)
	}
	c := &client{base: "http://store", where: a.store, http: &http.Client{Transport: inProcess{api.New(st, api.Options{})}}}
	return c, st.Close, nil
}

func (a *app) backend() (store.Backend, error) {
	switch scheme, _, ok := strings.Cut(a.store, "://"); {
	case ok && scheme == "s3":
		return bucketStore(a.store)
	case ok:
		return nil, usage("--store takes a directory or s3://bucket/prefix, and %s://… is neither: name a server that has that store with --server", scheme)
	}
	backend, err := dir.OpenExisting(a.store)
	if err != nil {
		return nil, missing("--store: %w", err)
	}
	if !holdsStore(a.store) {
		return nil, missing("--store: %s holds no tape store", a.store)
	}
	return backend, nil
}

// holdsStore reports whether a directory has any of the folders of a store. One
// without them would answer as a store without runs, which hides a wrong path.
func holdsStore(path string) bool {
	for _, folder := range []string{"tapes", "index", "blobs", "policies", "tenants", ".tmp"} {
		if info, err := os.Stat(filepath.Join(path, folder)); err == nil && info.IsDir() {
			return true
		}
	}
	return false
}

// inProcess answers requests by calling a handler.
type inProcess struct{ handler http.Handler }

func (p inProcess) RoundTrip(r *http.Request) (*http.Response, error) {
	w := &answer{header: http.Header{}, status: http.StatusOK}
	p.handler.ServeHTTP(w, r)
	return &http.Response{
		Status: http.StatusText(w.status), StatusCode: w.status, Header: w.header, Request: r,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()),
	}, nil
}

// answer keeps what a handler writes.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
	begun  bool
}

func (w *answer) Header() http.Header { return w.header }

func (w *answer) WriteHeader(status int) {
	if !w.begun {
		w.status, w.begun = status, true
	}
}

func (w *answer) Write(p []byte) (int, error) {
	w.begun = true
	return w.body.Write(p)
}
