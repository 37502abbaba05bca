package s3_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/minio/minio-go/v7/pkg/encrypt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRequestsAskForEncryptionAndStorageClass(t *testing.T) {
	const head = "X-Amz-Server-Side-Encryption"
	kms, err := encrypt.NewSSEKMS("key-1", nil)
	require.NoError(t, err)
	customer, err := encrypt.NewSSEC(make([]byte, 32))
	require.NoError(t, err)
	for name, tt := range map[string]struct {
		sse encrypt.ServerSide
		// want are headers of a write, and read whether a read has them too.
		want map[string]string
		read bool
	}{
		"none":     {want: map[string]string{head: "", head + "-Customer-Algorithm": ""}},
		"s3":       {sse: encrypt.NewSSE(), want: map[string]string{head: "AES256"}},
		"kms":      {sse: kms, want: map[string]string{head: "aws:kms", head + "-Aws-Kms-Key-Id": "key-1"}},
		"customer": {sse: customer, want: map[string]string{head + "-Customer-Algorithm": "AES256"}, read: true},
	} {
		t.Run(name, func(t *testing.T) {
			seen := map[string]http.Header{}
			server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				seen[r.Method] = r.Header
				w.Header().Set("ETag", `"00000000000000000000000000000000"`)
				switch r.Method {
				case http.MethodPut:
					// So that the writer looks at what is there.
					w.WriteHeader(http.StatusPreconditionFailed)
					_, _ = w.Write([]byte("<Error><Code>PreconditionFailed</Code></Error>"))
				default:
					w.Header().Set("Last-Modified", "Fri, 02 Jan 2026 03:04:05 GMT")
					w.Header().Set("Content-Length", "4")
					if r.Method == http.MethodGet {
						_, _ = w.Write([]byte("text"))
					}
				}
			}))
			defer server.Close()
			cfg := config(server.URL)
			cfg.Encryption, cfg.StorageClass = tt.sse, "STANDARD_IA"
			cfg.Transport = server.Client().Transport
			b := open(t, cfg)
			require.NoError(t, b.Put(t.Context(), "a", []byte("text")))
			_, err := b.GetRange(t.Context(), "a", 0, 4)
			require.NoError(t, err)
			assert.Equal(t, "STANDARD_IA", seen[http.MethodPut].Get("X-Amz-Storage-Class"))
			for header, value := range tt.want {
				assert.Equal(t, value, seen[http.MethodPut].Get(header), header)
				if tt.read {
					assert.Equal(t, value, seen[http.MethodHead].Get(header), header)
					assert.Equal(t, value, seen[http.MethodGet].Get(header), header)
				}
			}
		})
	}
}
