package cli

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/tapedeck/tapedeck/internal/store/s3"
)

// bucketStore opens s3://bucket/prefix. Where that is and who asks is said as for
// other tools: by AWS_REGION, AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL,
// AWS_ACCESS_KEY_ID and its like, the shared credentials file, or the role of the
// machine. The parameters region, endpoint and path_style of the URL go before.
func bucketStore(raw string) (*s3.Backend, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, usage("--store: %w", err)
	}
	if u.User != nil {
		return nil, usage("--store: keys do not belong into a URL, where others can read them: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
	}
	params := u.Query()
	for name := range params {
		switch name {
		case "region", "endpoint", "path_style":
		default:
			return nil, usage("--store: unknown parameter %s: region, endpoint and path_style are known", name)
		}
	}
	cfg := s3.Config{
		Bucket:   u.Host,
		Prefix:   strings.Trim(u.Path, "/"),
		Region:   cmp.Or(params.Get("region"), os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION")),
		Endpoint: cmp.Or(params.Get("endpoint"), os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL")),
	}
	// Amazon resolves a bucket in the host, others seldom do.
	cfg.PathStyle = cfg.Endpoint != ""
	if v := params.Get("path_style"); v != "" {
		if cfg.PathStyle, err = strconv.ParseBool(v); err != nil {
			return nil, usage("--store: path_style=%s is neither true nor false", v)
		}
	}
	cfg.Credentials = credentials.NewChainCredentials([]credentials.Provider{
		&credentials.EnvAWS{}, &credentials.FileAWSCredentials{},
		&credentials.IAM{Client: &http.Client{Timeout: 5 * time.Second}, Region: cfg.Region},
	})
	backend, err := s3.Open(cfg)
	if err != nil {
		return nil, usage("--store: %w", err)
	}
	// A wrong name would otherwise answer like a store without runs.
	if err := backend.Ping(context.Background()); err != nil {
		return nil, missing("--store: %w", err)
	}
	return backend, nil
}
