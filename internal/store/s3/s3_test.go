package s3_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/s3"
	"github.com/tapedeck/tapedeck/internal/store/s3/s3test"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
)

func config(url string) s3.Config {
	return s3.Config{
		Endpoint: url, Bucket: s3test.Bucket, PathStyle: true, Credentials: s3test.Credentials(),
		Timeout: 5 * time.Second,
	}
}

func open(t *testing.T, cfg s3.Config) *s3.Backend {
	b, err := s3.Open(cfg)
	require.NoError(t, err)
	return b
}

func TestBucketIsABackend(t *testing.T) {
	server := s3test.Start(t)
	var n atomic.Int64
	storetest.Backend(t, func(t *testing.T) store.Backend {
		cfg := config(server.URL())
		cfg.Prefix = fmt.Sprintf("team-a/store%d", n.Add(1))
		return open(t, cfg)
	})
}

// broken is a backend behind a proxy, and what its metrics saw.
func broken(t *testing.T, server *s3test.Server) (*s3.Backend, *s3test.Proxy, *[]s3.Request) {
	proxy := s3test.NewProxy(t, server)
	var seen []s3.Request
	cfg := config(proxy.URL)
	cfg.Prefix = strings.NewReplacer("/", "-", ",", "").Replace(t.Name())
	cfg.Timeout = time.Second
	cfg.Observe = func(r s3.Request) { seen = append(seen, r) }
	return open(t, cfg), proxy, &seen
}

func TestFaultsOfWrites(t *testing.T) {
	server := s3test.Start(t)
	for name, tt := range map[string]struct {
		faults []s3test.Fault
		// sent is how many PUTs there are.
		sent int
		err  error
	}{
		"none":                                      {sent: 1},
		"internal error":                            {faults: []s3test.Fault{s3test.Status(500, "InternalError")}, sent: 2},
		"too many requests":                         {faults: []s3test.Fault{s3test.Status(429, "TooManyRequests"), s3test.Status(429, "TooManyRequests")}, sent: 3},
		"request timeout":                           {faults: []s3test.Fault{s3test.Status(408, "RequestTimeout")}, sent: 2},
		"conflict of conditional writes":            {faults: []s3test.Fault{s3test.Status(409, "ConditionalRequestConflict")}, sent: 2},
		"slow down, and the write appears later":    {faults: []s3test.Fault{s3test.SlowDown(10 * time.Millisecond)}, sent: 2},
		"slow down, and the write appears too late": {faults: []s3test.Fault{s3test.SlowDown(time.Second)}, sent: 2},
		"reset": {faults: []s3test.Fault{s3test.Reset}, sent: 2},
		"the answer is lost, and is its own conflict": {faults: []s3test.Fault{s3test.LoseAnswer}, sent: 2},
		"the answer stalls":                           {faults: []s3test.Fault{s3test.Hang(3 * time.Second)}, sent: 2},
		"does not pass":                               {faults: slices.Repeat([]s3test.Fault{s3test.Status(503, "SlowDown")}, 5), sent: 5, err: errAny},
		"bad request":                                 {faults: []s3test.Fault{s3test.Status(400, "InvalidRequest")}, sent: 1, err: store.ErrRefused},
		"expired credentials that are not renewed":    {faults: slices.Repeat([]s3test.Fault{s3test.Status(400, "ExpiredToken")}, 5), sent: 5, err: errAny},
		"a body damaged on its way":                   {faults: []s3test.Fault{s3test.Status(400, "BadDigest")}, sent: 2},
		"another region":                              {faults: []s3test.Fault{s3test.Status(400, "AuthorizationHeaderMalformed")}, sent: 1, err: errAny},
		"a key that is switched off":                  {faults: []s3test.Fault{s3test.Status(400, "KMS.DisabledException")}, sent: 1, err: errAny},
		"a bucket that is gone":                       {faults: []s3test.Fault{s3test.Status(404, "NoSuchBucket")}, sent: 1, err: errAny},
		"a status of a proxy":                         {faults: []s3test.Fault{s3test.Status(520, "")}, sent: 2},
		"too large":                                   {faults: []s3test.Fault{s3test.Status(413, "EntityTooLarge")}, sent: 1, err: store.ErrRefused},
		"forbidden":                                   {faults: []s3test.Fault{s3test.Status(403, "AccessDenied")}, sent: 1, err: errAny},
		"clock skew":                                  {faults: []s3test.Fault{s3test.Status(403, "RequestTimeTooSkewed")}, sent: 1, err: errAny},
		"no conditional writes here":                  {faults: []s3test.Fault{s3test.Status(501, "NotImplemented")}, sent: 2},
	} {
		t.Run(name, func(t *testing.T) {
			b, proxy, seen := broken(t, server)
			proxy.Break(http.MethodPut, tt.faults...)
			err := b.Put(t.Context(), "blobs/a/1.zst", []byte("content"))
			puts, retries := 0, 0
			for _, r := range *seen {
				if r.Method == http.MethodPut {
					puts++
				}
				if r.Retry {
					retries++
				}
			}
			assert.Equal(t, tt.sent, puts)
			if name != "no conditional writes here" {
				assert.Equal(t, tt.sent-1, retries)
			}
			if tt.err != nil {
				require.Error(t, err)
				assert.Equal(t, errors.Is(tt.err, store.ErrRefused), errors.Is(err, store.ErrRefused), "%v", err)
				return
			}
			require.NoError(t, err)
			time.Sleep(20 * time.Millisecond)
			assert.Equal(t, "content", storetest.Read(t, b, "blobs/a/1.zst"))
			assert.Len(t, storetest.List(t, b, "blobs/"), 1)
		})
	}
}

var errAny = errors.New("any")

func TestFaultsOfReads(t *testing.T) {
	server := s3test.Start(t)
	content := bytes.Repeat([]byte("0123456789abcdef"), 64<<10)
	for name, faults := range map[string][]s3test.Fault{
		"internal error":      {s3test.Status(500, "InternalError")},
		"reset":               {s3test.Reset},
		"truncated":           {s3test.Truncate(1000)},
		"truncated and again": {s3test.Truncate(1000), s3test.Reset, s3test.Truncate(70000), s3test.Status(503, "SlowDown")},
		"slow body":           {s3test.Stall(5000, 3*time.Second)},
	} {
		t.Run(name, func(t *testing.T) {
			b, proxy, _ := broken(t, server)
			require.NoError(t, b.Put(t.Context(), "blobs/a/1.zst", content))
			proxy.Break(http.MethodGet, faults...)
			assert.True(t, storetest.Read(t, b, "blobs/a/1.zst") == string(content))
		})
	}
	t.Run("cut each time before the first byte", func(t *testing.T) {
		b, proxy, _ := broken(t, server)
		require.NoError(t, b.Put(t.Context(), "blobs/a/1.zst", content))
		proxy.Break(http.MethodGet, slices.Repeat([]s3test.Fault{s3test.Truncate(0)}, 20)...)
		r, err := b.Get(t.Context(), "blobs/a/1.zst")
		require.NoError(t, err)
		_, err = io.ReadAll(r)
		require.ErrorContains(t, err, "breaks off after 0 of")
		require.NoError(t, r.Close())
	})
	t.Run("a missing bucket is not a missing object", func(t *testing.T) {
		cfg := config(server.URL())
		cfg.Bucket = "nowhere"
		b := open(t, cfg)
		_, err := b.Get(t.Context(), "blobs/a/1.zst")
		require.Error(t, err)
		require.NotErrorIs(t, err, store.ErrNotFound)
		require.ErrorContains(t, b.Ping(t.Context()), "no such bucket")
	})
	t.Run("a list goes on where it broke off", func(t *testing.T) {
		b, proxy, _ := broken(t, server)
		for i := range 5 {
			require.NoError(t, b.Put(t.Context(), fmt.Sprintf("blobs/a/%d.zst", i), []byte("x")))
		}
		proxy.Break(http.MethodGet, s3test.Status(500, "InternalError"), s3test.Reset)
		assert.Len(t, storetest.List(t, b, "blobs/"), 5)
	})
}

func TestAnObjectOfAnotherLengthIsWrittenOver(t *testing.T) {
	b := open(t, config(s3test.Start(t).URL()))
	require.NoError(t, b.Put(t.Context(), "blobs/a/1.zst", []byte("cut")))
	require.NoError(t, b.Put(t.Context(), "blobs/a/1.zst", []byte("whole")))
	assert.Equal(t, "whole", storetest.Read(t, b, "blobs/a/1.zst"))
}

func TestBigObjectsGoUpInEqualParts(t *testing.T) {
	const part = 5 << 20
	server := s3test.Start(t)
	for name, size := range map[string]int{
		"exactly two parts": 2 * part, "a byte more": 2*part + 1, "a byte less": 2*part - 1, "one part": part, "one byte over": part + 1,
	} {
		t.Run(name, func(t *testing.T) {
			proxy := s3test.NewProxy(t, server)
			cfg := config(proxy.URL)
			cfg.PartSize = part
			cfg.Prefix = strings.ReplaceAll(name, " ", "-")
			b := open(t, cfg)
			data := bytes.Repeat([]byte{'x'}, size)
			require.NoError(t, b.Put(t.Context(), "blobs/a/1.zst", data))
			assert.True(t, storetest.Read(t, b, "blobs/a/1.zst") == string(data))
			assert.Empty(t, server.Uploads())
			if size > part {
				proxy.Requests()
				require.NoError(t, b.Put(t.Context(), "blobs/a/1.zst", data))
				assert.Len(t, proxy.Requests(), 1, "what is there is not sent again")
			}
		})
	}
	t.Run("an upload that fails is aborted", func(t *testing.T) {
		proxy := s3test.NewProxy(t, server)
		cfg := config(proxy.URL)
		cfg.PartSize, cfg.MaxAttempts, cfg.Prefix = part, 2, "aborted"
		proxy.Break(http.MethodPut, slices.Repeat([]s3test.Fault{s3test.Status(500, "InternalError")}, 4)...)
		require.Error(t, open(t, cfg).Put(t.Context(), "blobs/a/1.zst", make([]byte, 2*part)))
		assert.Empty(t, server.Uploads())
	})
}

// A bucket that ignores conditions and one that refuses them hold the same.
func TestBucketsThatIgnoreConditions(t *testing.T) {
	var stored atomic.Value
	puts := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		puts++
		stored.Store(string(body))
		w.Header().Set("ETag", `"x"`)
	}))
	defer srv.Close()
	cfg := config(srv.URL)
	cfg.Credentials = nil
	b := open(t, cfg)
	for range 2 {
		require.NoError(t, b.Put(t.Context(), "blobs/a/1.zst", []byte("same")))
	}
	assert.Contains(t, stored.Load(), "same")
	assert.Equal(t, 2, puts)
}

func TestACancelledCallEndsAtOnce(t *testing.T) {
	server := s3test.Start(t)
	b, proxy, _ := broken(t, server)
	proxy.Break("", slices.Repeat([]s3test.Fault{s3test.Status(503, "SlowDown")}, 100)...)
	ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
	defer cancel()
	begun := time.Now()
	require.ErrorIs(t, b.Put(ctx, "blobs/a/1.zst", []byte("x")), context.DeadlineExceeded)
	assert.Less(t, time.Since(begun), time.Second)
}

func TestConfigNamesWhatIsWrong(t *testing.T) {
	for want, cfg := range map[string]s3.Config{
		"bucket must not be empty":   {},
		`bucket "a/b"`:               {Bucket: "a/b"},
		"prefix":                     {Bucket: "b", Prefix: "../x"},
		"the scheme must be http":    {Bucket: "b", Endpoint: "ftp://x"},
		"only a scheme, a host":      {Bucket: "b", Endpoint: "http://u:p@x/path"},
		"timeout must not be":        {Bucket: "b", Timeout: -1},
		"max_attempts must not be":   {Bucket: "b", MaxAttempts: -1},
		"part_size must be at least": {Bucket: "b", PartSize: 1},
	} {
		require.ErrorContains(t, cfg.Validate(), want)
		_, err := s3.Open(cfg)
		require.Error(t, err)
		require.NotContains(t, err.Error(), "u:p@")
	}
	_, err := s3.Open(s3.Config{Bucket: "b"})
	require.NoError(t, err)
}
