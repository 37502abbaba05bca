package policies

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/cli"
	"github.com/tapedeck/tapedeck/internal/retention"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/s3"
	"github.com/tapedeck/tapedeck/internal/store/s3/s3test"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
	"github.com/tapedeck/tapedeck/tape"
)

var (
	run     = strings.Repeat("a", 32)
	another = strings.Repeat("b", 32)
)

// record does what a collector does with failed runs: it stores each and its row, so
// that there are several files of one hour.
func record(t *testing.T, backend *s3.Backend, runs ...string) {
	t.Helper()
	st, err := store.Open(backend, store.Options{})
	require.NoError(t, err)
	defer st.Close()
	start := time.Now().Add(-time.Minute)
	for _, id := range runs {
		td := storetest.AgentRun(t, id, start, storetest.Call{Tool: "search", Args: `{"q":"socks"}`, Error: "no answer"})
		f, err := st.PutFragment(t.Context(), retention.ClassFailures, id, td)
		require.NoError(t, err)
		at := start.UTC().Format(time.RFC3339Nano)
		row := tape.Row{
			TraceID: id, Outcome: tape.OutcomeFailed, Service: "shop", ConversationID: "talk-1", Kept: true, Class: retention.ClassFailures,
			Steps: 1, ToolCalls: 1, Start: at, Decided: at,
		}
		require.NoError(t, st.AppendEntries(t.Context(), []store.Entry{{Row: row, Fragment: f.Name}}))
	}
	body := []byte("long")
	sum := sha256.Sum256(body)
	require.NoError(t, st.PutBlob(t.Context(), retention.ClassFailures, start, hex.EncodeToString(sum[:]), body))
}

// tidy compacts the index and sweeps, at a time that is a while from now.
func tidy(t *testing.T, backend *s3.Backend, in time.Duration) retention.Report {
	t.Helper()
	now := func() time.Time { return time.Now().Add(in) }
	st, err := store.Open(backend, store.Options{Now: now})
	require.NoError(t, err)
	defer st.Close()
	require.NoError(t, st.Compact(t.Context()))
	config := retention.DefaultConfig()
	sweeper := &retention.Sweeper{Store: st, Policy: config.Policy(), Leftovers: backend, Now: now}
	report, err := sweeper.Sweep(t.Context())
	require.NoError(t, err)
	return report
}

// What a collector does with its bucket from the first run to the last sweep needs the
// whole of its policy.
func TestACollectorLivesByItsPolicy(t *testing.T) {
	server := s3test.Start(t)
	g := newGuard(t, "collector.json")
	backend := open(t, server, g, "")
	require.NoError(t, backend.Ping(t.Context()))
	record(t, backend, run, another)
	core := minio.Core{Client: server.Client()}
	_, err := core.NewMultipartUpload(t.Context(), s3test.Bucket, "tapes/failures/x/1.otlp.zst", minio.PutObjectOptions{})
	require.NoError(t, err)

	assert.Len(t, storetest.List(t, backend, "index/"), 2)
	assert.Empty(t, tidy(t, backend, 3*time.Hour).Items, "a policy has not stood yet")
	assert.Len(t, storetest.List(t, backend, "index/"), 1, "compacted")
	gone := tidy(t, backend, 90*24*time.Hour).Items
	for _, kind := range []retention.Kind{retention.KindTape, retention.KindBlob, retention.KindRows, retention.KindLeftover} {
		assert.NotZero(t, gone[kind], "%s", kind)
	}
	g.onlyWhatIsAllowed(t)
}

// tapeWith gives the command line on the bucket behind a guard.
func tapeWith(t *testing.T, server *s3test.Server, g *guard) func(args ...string) (code int, out string) {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", s3test.AccessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", s3test.SecretKey)
	t.Setenv("AWS_ENDPOINT_URL", g.before(t, server))
	return func(args ...string) (int, string) {
		var out bytes.Buffer
		code := cli.Main(append([]string{"--store", "s3://" + s3test.Bucket}, args...), cli.Streams{
			In: strings.NewReader(""), Out: &out, Err: &out, Env: func(string) string { return "" },
		})
		return code, out.String()
	}
}

func TestAReaderWorksByItsPolicy(t *testing.T) {
	server := s3test.Start(t)
	record(t, open(t, server, nil, ""), run, another)
	g := newGuard(t, "reader.json")
	command := tapeWith(t, server, g)
	for _, args := range [][]string{
		{"ls"}, {"pull", run}, {"pull", "--conversation", "talk-1"}, {"show", run}, {"diff", run, another}, {"triage", run},
		{"export", run}, {"export", run, "--bundle", "-o", filepath.Join(t.TempDir(), "run.tar.gz")},
	} {
		code, out := command(args...)
		assert.Zero(t, code, "%v: %s", args, out)
	}
	g.onlyWhatIsAllowed(t)
	for _, args := range [][]string{{"keep", run}, {"rm", run}} {
		code, out := command(args...)
		assert.NotZero(t, code, "%v: %s", args, out)
	}
	code, out := command("pull", run)
	assert.Zero(t, code, out)
}

// Whoever has the policy for it applies retention, pins runs and removes them from the
// command line.
func TestRetentionWorksByItsPolicy(t *testing.T) {
	server := s3test.Start(t)
	direct := open(t, server, nil, "")
	record(t, direct, run, another)
	// The policy of the collector has stood.
	tidy(t, direct, -30*24*time.Hour)
	g := newGuard(t, "retention.json")
	command := tapeWith(t, server, g)
	for _, args := range [][]string{{"retention", "plan"}, {"keep", run}, {"retention", "apply"}, {"rm", another}} {
		code, out := command(args...)
		assert.Zero(t, code, "%v: %s", args, out)
	}
	assert.Empty(t, g.refused)
	assert.Contains(t, string(g.lifecycle), "tapes/failures/")
	for _, action := range []string{"s3:GetLifecycleConfiguration", "s3:PutLifecycleConfiguration", "s3:PutObject", "s3:DeleteObject", "s3:ListBucketMultipartUploads"} {
		assert.True(t, g.used[action], action)
	}
}
