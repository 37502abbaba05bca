package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/retention"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/dir"
	"github.com/tapedeck/tapedeck/internal/store/s3"
	"github.com/tapedeck/tapedeck/internal/store/s3/s3test"
)

// policyFile writes a policy that keeps runs for a day.
func policyFile(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "policy.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

const dayPolicy = "retention:\n  rules: []\n  default: {name: rest, keep: 1d}\n  grace: 1h\n"

// age makes everything in a store in a directory older.
func age(t *testing.T, path string, by time.Duration) {
	require.NoError(t, filepath.Walk(path, func(p string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		at := info.ModTime().Add(-by)
		return os.Chtimes(p, at, at)
	}))
}

// noted notes a policy as of a while ago.
func noted(t *testing.T, backend store.Backend, config string, ago time.Duration) {
	st, err := store.Open(backend, store.Options{})
	require.NoError(t, err)
	defer st.Close()
	c, err := readRetention(config)
	require.NoError(t, err)
	_, err = (&retention.Sweeper{Store: st, Policy: c.Policy(), Now: func() time.Time { return time.Now().Add(-ago) }}).Sweep(t.Context())
	require.NoError(t, err)
}

func TestRetentionPlanThenApply(t *testing.T) {
	path := newStore(t)
	backend, err := dir.Open(path)
	require.NoError(t, err)
	config := policyFile(t, dayPolicy)

	r := tapeCmd(t, "", "--store", path, "retention", "plan")
	assert.Equal(t, exitUsage, r.code)
	assert.Contains(t, r.err, "--config")
	r = tapeCmd(t, "", "--store", path, "retention", "apply", "--config", config)
	require.Equal(t, exitOK, r.code, r.err)
	assert.Contains(t, r.err, "nothing goes before")
	assert.Contains(t, r.err, "a directory has no lifecycle rules")

	require.NoError(t, os.RemoveAll(filepath.Join(path, "retention")))
	noted(t, backend, config, 48*time.Hour)
	age(t, filepath.Join(path, "tapes"), 25*time.Hour)
	kept := strings.Repeat("a", 32)
	plan := tapeCmd(t, "", "--store", path, "retention", "plan")
	require.Equal(t, exitOK, plan.code, plan.err)
	assert.Contains(t, plan.out, kept)
	assert.Contains(t, plan.out, "older than 1d (class rest, as its own is not configured)")
	assert.Contains(t, plan.err, "1 tape, 0 blobs, 0 rows and 0 leftovers would go")
	assert.Contains(t, plan.err, "the policy has no class failures")

	r = tapeCmd(t, "", "--store", path, "retention", "apply", "--config", config)
	require.Equal(t, exitOK, r.code, r.err)
	assert.Equal(t, plan.out, r.out, "what was planned is what went")
	assert.Equal(t, exitMissing, tapeCmd(t, "", "--store", path, "pull", kept).code)
	r = tapeCmd(t, "", "--store", path, "retention", "plan", "--json")
	require.Equal(t, exitOK, r.code, r.err)
	var report struct {
		List  []any `json:"list"`
		Bytes int64 `json:"bytes"`
	}
	require.NoError(t, json.Unmarshal([]byte(r.out), &report))
	assert.Empty(t, report.List)
}

func TestKeepPinsWhatIsStored(t *testing.T) {
	path := newStore(t)
	backend, err := dir.Open(path)
	require.NoError(t, err)
	kept, summarised := strings.Repeat("a", 32), strings.Repeat("b", 32)
	r := tapeCmd(t, "", "--store", path, "keep", kept)
	require.Equal(t, exitOK, r.code, r.err)
	assert.Contains(t, r.err, "is kept")
	config := policyFile(t, dayPolicy)
	noted(t, backend, config, 48*time.Hour)
	age(t, filepath.Join(path, "tapes"), 25*time.Hour)
	r = tapeCmd(t, "", "--store", path, "retention", "apply", "--config", config)
	require.Equal(t, exitOK, r.code, r.err)
	assert.Equal(t, exitOK, tapeCmd(t, "", "--store", path, "pull", kept).code)
	assert.NoDirExists(t, filepath.Join(path, "tapes", "failures"))

	r = tapeCmd(t, "", "--store", path, "keep", summarised)
	assert.Equal(t, exitMissing, r.code)
	r = tapeCmd(t, "", "--store", path, "rm", kept)
	require.Equal(t, exitOK, r.code, r.err)
	assert.NoDirExists(t, filepath.Join(path, "tapes", "pinned"))
}

func TestRetentionOfABucketWithoutLifecycleRules(t *testing.T) {
	server := s3test.Start(t)
	backend, err := s3.Open(s3.Config{
		Endpoint: server.URL(), Bucket: s3test.Bucket, PathStyle: true, Credentials: s3test.Credentials(),
	})
	require.NoError(t, err)
	fillStore(t, backend)
	config := policyFile(t, dayPolicy)
	noted(t, backend, config, 48*time.Hour)
	t.Setenv("AWS_ACCESS_KEY_ID", s3test.AccessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", s3test.SecretKey)
	t.Setenv("AWS_ENDPOINT_URL", server.URL())
	r := tapeCmd(t, "", "--store", "s3://"+s3test.Bucket, "retention", "apply", "--config", config)
	require.Equal(t, exitOK, r.code, r.err)
	assert.Contains(t, r.err, "the bucket has no lifecycle rules")
	assert.Contains(t, r.err, "sweeps of collectors and of this command remain")
}

func TestRetentionFiles(t *testing.T) {
	c, err := readRetention(policyFile(t, `
receivers: {otlp: {}}
extensions:
  health_check: {}
  tape_store/main:
    directory: {path: /x}
    retention:
      rules:
        - {name: bad, outcome: [failed], keep: 90d, max_bytes: 5}
      summaries: {keep: 2d}
`))
	require.NoError(t, err)
	assert.Equal(t, []retention.Rule{{Class: retention.Class{Name: "bad", Keep: retention.Keep(90 * 24 * time.Hour), MaxBytes: 5}, Outcome: []string{"failed"}}}, c.Rules)
	assert.Equal(t, retention.Keep(48*time.Hour), c.Summaries.Keep)
	assert.Equal(t, retention.DefaultGrace, c.Grace)

	path := newStore(t)
	for text, want := range map[string]string{
		"{}":                                               "no section retention",
		"retention: {rules: [{name: x}]}":                  "keep must be given",
		"retention: {defaults: {}}":                        "defaults",
		"retention: {default: {keep: 3}}":                  "default",
		"retention: {default: {keep: 3 d}}":                `neither "forever" nor a time`,
		"extensions: {tape_store/a: {}, tape_store/b: {}}": "several stores",
		"retention: [":                                     "line 1",
	} {
		r := tapeCmd(t, "", "--store", path, "retention", "plan", "--config", policyFile(t, text))
		assert.Equal(t, exitUsage, r.code, text)
		assert.Contains(t, r.err, want, text)
		oneLineError(t, r)
	}
	for _, words := range [][]string{
		{"retention", "plan"},
		{"--store", path, "--tenant", "x", "retention", "plan"},
		{"--store", path, "retention", "sweep"},
		{"--store", path, "retention", "plan", "--config", "nowhere.yaml"},
		{"--store", "s3://x", "retention", "plan", "--config", policyFile(t, "retention: {default: {max_bytes: 5}}")},
	} {
		r := tapeCmd(t, "", words...)
		assert.Equal(t, exitUsage, r.code, words)
		oneLineError(t, r)
	}
}
