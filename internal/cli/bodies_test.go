package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	helloHash = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
	askHello  = `{"tool":"t","args":{}}`
	gotHello  = "{\"result\":\"hello\"}\n"
)

// helloTape writes a tape whose result is held by reference and, where it is not "", the
// body beside it.
func helloTape(t *testing.T, body string) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "tape.jsonl")
	line := `{"seq":1,"tool":"t","args":{},"body":{"sha256":"` + helloHash + `","bytes":5}}`
	require.NoError(t, os.WriteFile(file, []byte(line+"\n"), 0o600))
	if body != "" {
		helloBody(t, filepath.Join(dir, "bodies"), body)
	}
	return file
}

func helloBody(t *testing.T, dir, body string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, helloHash), []byte(body), 0o600))
	return dir
}

// Answers that are held by reference come from beside the tape, from a bundle, from a
// directory that is named, or from the server that is named.
func TestBodiesAreFoundWhereTheyAre(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/blobs/sha256/"+helloHash {
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, "hello")
	}))
	t.Cleanup(server.Close)
	file := helloTape(t, "hello")
	packed := filepath.Join(t.TempDir(), "bundle.tar.gz")
	require.Equal(t, exitOK, tapeCmd(t, "", "export", file, "--bundle", "-o", packed).code)
	unpacked := filepath.Join(t.TempDir(), "bundle") + "/"
	require.Equal(t, exitOK, tapeCmd(t, "", "export", file, "--bundle", "-o", unpacked).code)
	for name, words := range map[string][]string{
		"beside the tape":           {file},
		"in a packed bundle":        {packed},
		"in a directory of one":     {unpacked},
		"where --bodies says":       {helloTape(t, ""), "--bodies", helloBody(t, t.TempDir(), "hello")},
		"before those beside it":    {helloTape(t, "other"), "--bodies", helloBody(t, t.TempDir(), "hello")},
		"on the server":             {helloTape(t, ""), "--server", server.URL},
		"beside it, not the server": {file, "--server", "http://127.0.0.1:1"},
	} {
		t.Run(name, func(t *testing.T) {
			post, end := served(t, words...)
			_, got := post("/v1/call", askHello)
			assert.Equal(t, gotHello, got)
			code, report := end()
			assert.Equal(t, exitOK, code, report)
			for _, verb := range []string{"doctor", "dry"} {
				r := tapeCmd(t, "", append([]string{verb}, words...)...)
				assert.Equal(t, exitOK, r.code, "%s: %s%s", verb, r.out, r.err)
			}
			assert.Contains(t, report, words[0][:len(words[0])-len(filepath.Base(words[0]))], "the report names the tape")
		})
	}
}

// A body that is not there, or not the one that was recorded, is a gap that says so.
func TestBodiesThatAreNotThereAreGaps(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	empty := t.TempDir()
	for name, c := range map[string]struct {
		words []string
		want  []string
	}{
		"missing":          {[]string{helloTape(t, "")}, []string{"gap at step 1: t: result: held by reference, and body " + helloHash + " is not in ", "pull the tape with its bodies, or say --bodies DIR"}},
		"missing there":    {[]string{helloTape(t, "hello"), "--bodies", empty}, []string{"is not in " + empty}},
		"not in the store": {[]string{helloTape(t, ""), "--server", server.URL}, []string{"and not in the store"}},
		"no server":        {[]string{helloTape(t, ""), "--server", "http://127.0.0.1:1"}, []string{"http://127.0.0.1:1 does not answer"}},
		"damaged":          {[]string{helloTape(t, "hallo")}, []string{"body " + helloHash + " is damaged"}},
	} {
		t.Run(name, func(t *testing.T) {
			post, end := served(t, c.words...)
			status, got := post("/v1/call", askHello)
			assert.Equal(t, http.StatusFailedDependency, status)
			code, report := end()
			assert.Equal(t, exitNo, code)
			for _, want := range c.want {
				assert.Contains(t, got, want)
				assert.Contains(t, report, want)
			}
			for _, verb := range []string{"doctor", "dry"} {
				r := tapeCmd(t, "", append([]string{verb}, c.words...)...)
				assert.Equal(t, exitNo, r.code)
				assert.Contains(t, r.out, c.want[len(c.want)-1])
			}
		})
	}
}

func TestArchivesThatAreNoBundle(t *testing.T) {
	for name, c := range map[string]struct {
		words []string
		want  string
	}{
		"not an archive":  {[]string{"serve", write(t, "\x1f\x8bnot one")}, "bundle: "},
		"no directory":    {[]string{"serve", helloTape(t, ""), "--bodies", "nowhere"}, "--bodies: nowhere is not a directory"},
		"an empty folder": {[]string{"serve", t.TempDir()}, "is a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			r := tapeCmd(t, "", c.words...)
			assert.Equal(t, exitUsage, r.code)
			assert.Contains(t, r.err, c.want)
			oneLineError(t, r)
		})
	}
}
