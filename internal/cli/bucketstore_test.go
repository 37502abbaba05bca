package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/store/s3"
	"github.com/tapedeck/tapedeck/internal/store/s3/s3test"
)

func TestStoreInABucketAnswersAsTheServerDoes(t *testing.T) {
	server := s3test.Start(t)
	backend, err := s3.Open(s3.Config{
		Endpoint: server.URL(), Bucket: s3test.Bucket, Prefix: "team/a", PathStyle: true, Credentials: s3test.Credentials(),
	})
	require.NoError(t, err)
	fillStore(t, backend)
	t.Setenv("AWS_ACCESS_KEY_ID", s3test.AccessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", s3test.SecretKey)
	t.Setenv("AWS_ENDPOINT_URL", server.URL())
	kept := strings.Repeat("a", 32)
	at := "s3://" + s3test.Bucket + "/team/a"

	r := tapeCmd(t, "", "--store", at, "ls")
	require.Equal(t, exitOK, r.code, r.err)
	assert.Contains(t, r.out, kept)
	r = tapeCmd(t, "", "--store", at+"/", "pull", kept)
	require.Equal(t, exitOK, r.code, r.err)
	assert.Len(t, readTapeText(t, r.out).Records, 1)
	r = tapeCmd(t, "", "--store", at, "pull", strings.Repeat("b", 32))
	assert.Equal(t, exitMissing, r.code)
	assert.Contains(t, r.err, "summary")
	r = tapeCmd(t, "", "--store", at, "rm", kept)
	require.Equal(t, exitOK, r.code, r.err)
	r = tapeCmd(t, "", "--store", at, "pull", kept)
	assert.Equal(t, exitMissing, r.code)

	r = tapeCmd(t, "", "--store", "s3://nowhere", "ls")
	assert.Equal(t, exitMissing, r.code)
	oneLineError(t, r)
	assert.Contains(t, r.err, "no such bucket")
}

func TestBucketURLsThatAreNone(t *testing.T) {
	for url, want := range map[string]string{
		"s3://key:secret@tapes":       "AWS_SECRET_ACCESS_KEY",
		"s3://tapes?colour=red":       "unknown parameter colour",
		"s3://tapes?path_style=maybe": "neither true nor false",
		"s3://tapes?endpoint=ftp://x": "must be http or https",
		"s3:///prefix":                "bucket must not be empty",
		"gs://tapes":                  "neither",
	} {
		r := tapeCmd(t, "", "--store", url, "ls")
		assert.Equal(t, exitUsage, r.code, url)
		assert.Contains(t, r.err, want)
		assert.NotContains(t, r.err, "secret@")
		oneLineError(t, r)
	}
}
