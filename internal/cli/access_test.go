package cli

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestWhereTheTokenComesFrom(t *testing.T) {
	var got string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Get("Authorization")
		_, _ = w.Write([]byte(`{"tapes":[]}`))
	}))
	defer server.Close()
	for name, tt := range map[string]struct {
		words []string
		want  string
	}{
		"nowhere":           {nil, ""},
		"variable":          {[]string{"TAPE_TOKEN=abc"}, "Bearer abc"},
		"flag":              {[]string{"--token", "abc"}, "Bearer abc"},
		"flag and variable": {[]string{"TAPE_TOKEN=other", "--token", "abc"}, "Bearer abc"},
		"file":              {[]string{"TAPE_TOKEN=other", "--token", "@" + write(t, "abc\n")}, "Bearer abc"},
	} {
		t.Run(name, func(t *testing.T) {
			r := tapeCmd(t, "", append(tt.words, "--server", server.URL, "ls")...)
			require.Equal(t, exitOK, r.code, r.err)
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestTokensThatCannotBeSent(t *testing.T) {
	for name, token := range map[string]string{
		"no such file": "@" + filepath.Join(t.TempDir(), "none"),
		"empty file":   "@" + write(t, "\n"),
		"two lines":    "s3cr3t\r\nX-Scope-OrgID: other",
		"not ASCII":    "s3cr3tö",
	} {
		r := tapeCmd(t, "", "--server", "http://127.0.0.1:1", "--token", token, "ls")
		oneLineError(t, r)
		assert.Equal(t, exitUsage, r.code, name)
		assert.NotContains(t, r.err, "s3cr3t", name)
	}
	r := tapeCmd(t, "", "--store", t.TempDir(), "--token", "s3cr3t", "ls")
	assert.Equal(t, exitUsage, r.code, "a store in place wants no token")
	assert.NotContains(t, r.err, "s3cr3t")
}

func TestATokenDoesNotFollowToAnotherHost(t *testing.T) {
	var leaked string
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		leaked = r.Header.Get("Authorization")
		_, _ = w.Write([]byte(`{"tapes":[]}`))
	}))
	defer other.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, strings.Replace(other.URL, "127.0.0.1", "localhost", 1), http.StatusFound)
	}))
	defer server.Close()
	r := tapeCmd(t, "", "TAPE_TOKEN=s3cr3t", "--server", server.URL, "ls")
	assert.NotContains(t, leaked, "s3cr3t")
	assert.NotContains(t, r.out+r.err, "s3cr3t")
}

func TestServersWithACertificateOfAPrivateAuthority(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"tapes":[]}`))
	}))
	defer server.Close()
	ca := write(t, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))

	assert.Equal(t, exitOK, tapeCmd(t, "", "--server", server.URL, "--ca", ca, "ls").code)
	assert.Equal(t, exitOK, tapeCmd(t, "", "TAPE_CA="+ca, "--server", server.URL, "ls").code)
	r := tapeCmd(t, "", "--server", server.URL, "ls")
	oneLineError(t, r)
	assert.Equal(t, exitMissing, r.code)
	assert.Contains(t, r.err, "certificate")

	for _, bad := range []string{filepath.Join(t.TempDir(), "none"), write(t, "no pem")} {
		r := tapeCmd(t, "", "--server", server.URL, "--ca", bad, "ls")
		oneLineError(t, r)
		assert.Equal(t, exitUsage, r.code)
		assert.Contains(t, r.err, "--ca: ")
	}
}
