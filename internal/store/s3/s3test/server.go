// Package s3test runs a real S3 server for tests, and a proxy before it that
// breaks what it is told to.
package s3test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/stretchr/testify/require"
)

// The keys of every server.
const (
	AccessKey = "tapedeck-test"
	SecretKey = "tapedeck-test-secret"
	Bucket    = "tapes"
)

// Server is a running S3 server with an empty bucket.
type Server struct {
	// Addr is its host and port, Dir where it keeps its objects.
	Addr, Dir string

	t         testing.TB
	bin, meta string
	cmd       *exec.Cmd
	out       *bytes.Buffer
}

// Start runs a server until the test ends. Without the versitygw tool the test is
// skipped, but on a CI machine it fails: .ci/run installs the tool.
func Start(t testing.TB) *Server {
	t.Helper()
	bin := find()
	if bin == "" {
		const hint = "versitygw is not there: internal/tools/install.sh versitygw builds it"
		if os.Getenv("CI") != "" {
			t.Fatal(hint)
		}
		t.Skip(hint)
	}
	root := t.TempDir()
	s := &Server{Addr: freeAddr(t), Dir: filepath.Join(root, "objects"), meta: filepath.Join(root, "attributes"), t: t, bin: bin}
	require.NoError(t, os.Mkdir(s.Dir, 0o700))
	require.NoError(t, os.Mkdir(s.meta, 0o700))
	s.Run()
	t.Cleanup(s.Stop)
	client := s.Client()
	require.NoError(t, client.MakeBucket(t.Context(), Bucket, minio.MakeBucketOptions{}))
	return s
}

// Run starts the server, again after Stop, with what it held.
func (s *Server) Run() {
	s.t.Helper()
	s.out = &bytes.Buffer{}
	s.cmd = exec.Command(s.bin, "--access", AccessKey, "--secret", SecretKey, "--port", s.Addr, "--quiet", "--keep-alive",
		"posix", "--sidecar", s.meta, s.Dir)
	s.cmd.Stdout, s.cmd.Stderr = s.out, s.out
	require.NoError(s.t, s.cmd.Start())
	deadline := time.Now().Add(20 * time.Second)
	for {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		_, err := s.Client().ListBuckets(ctx)
		cancel()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			s.Stop()
			s.t.Fatalf("the S3 server does not answer: %v\n%s", err, s.out)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Stop kills the server. What it holds stays.
func (s *Server) Stop() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	s.cmd = nil
}

// URL is the endpoint.
func (s *Server) URL() string { return "http://" + s.Addr }

// Client talks to the server.
func (s *Server) Client() *minio.Client {
	client, err := minio.New(s.Addr, &minio.Options{
		Creds:        Credentials(),
		BucketLookup: minio.BucketLookupPath,
		Region:       "us-east-1",
		MaxRetries:   1,
	})
	require.NoError(s.t, err)
	return client
}

// Credentials are those of every server.
func Credentials() *credentials.Credentials {
	return credentials.NewStaticV4(AccessKey, SecretKey, "")
}

func freeAddr(t testing.TB) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

func find() string {
	if dir, err := os.Getwd(); err == nil {
		for ; ; dir = filepath.Dir(dir) {
			bin := filepath.Join(dir, ".tools", "bin", "versitygw")
			if _, err := os.Stat(bin); err == nil {
				return bin
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	bin, err := exec.LookPath("versitygw")
	if err != nil {
		return ""
	}
	return bin
}

// Uploads lists the uploads in parts that were begun and neither completed nor
// aborted.
func (s *Server) Uploads() []string {
	var out []string
	for u := range s.Client().ListIncompleteUploads(context.Background(), Bucket, "", true) {
		require.NoError(s.t, u.Err)
		out = append(out, fmt.Sprintf("%s %s", u.Key, u.UploadID))
	}
	return out
}

// Keys lists all objects.
func (s *Server) Keys() []string {
	var out []string
	for o := range s.Client().ListObjectsIter(context.Background(), Bucket, minio.ListObjectsOptions{Recursive: true}) {
		require.NoError(s.t, o.Err)
		if !strings.HasSuffix(o.Key, "/") {
			out = append(out, o.Key)
		}
	}
	return out
}
