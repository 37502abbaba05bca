package s3

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/encrypt"

	"github.com/tapedeck/tapedeck/internal/store"
)

// Config says where the bucket is and how to talk to it.
type Config struct {
	// Endpoint is a URL, or a host with an optional port, which means https. "" is
	// Amazon's endpoint of the region.
	Endpoint string
	// Region signs requests. "" is us-east-1.
	Region string
	Bucket string
	// Prefix stands before the name of every object, without slashes at its ends.
	Prefix string
	// PathStyle puts the bucket into the path and not into the host.
	PathStyle bool

	// Credentials sign requests; nil sends them unsigned.
	Credentials *credentials.Credentials
	// Transport carries requests; nil is http.DefaultTransport.
	Transport http.RoundTripper

	// Encryption is asked for with every object; nil leaves it to the bucket.
	Encryption encrypt.ServerSide
	// StorageClass of every object; "" leaves it to the bucket.
	StorageClass string

	// Timeout bounds one request, and the time in which a body that is read must go
	// on. 0 is DefaultTimeout.
	Timeout time.Duration
	// MaxAttempts bounds how often a request is sent. 0 is DefaultMaxAttempts.
	MaxAttempts int
	// PartSize is the size in bytes above which an object goes up in parts of that
	// size. 0 is DefaultPartSize.
	PartSize int

	// Observe is told of each request that was sent; nil is nobody.
	Observe func(Request)
}

// Request is one HTTP request to the bucket.
type Request struct {
	// Method is that of HTTP.
	Method string
	// Status is that of the answer, 0 where there was none.
	Status int
	// Retry: it repeats one that failed.
	Retry bool
}

// Defaults of a Config.
const (
	DefaultTimeout     = 30 * time.Second
	DefaultMaxAttempts = 5
	DefaultPartSize    = 16 << 20

	defaultRegion = "us-east-1"
	// minPartSize is the smallest that S3 takes, save for the last part.
	minPartSize = 5 << 20
)

// Validate checks what can be known without the bucket.
func (c *Config) Validate() error {
	var errs []error
	if c.Bucket == "" {
		errs = append(errs, errors.New("bucket must not be empty"))
	} else if strings.ContainsAny(c.Bucket, "/ ") {
		errs = append(errs, fmt.Errorf("bucket %q: not the name of a bucket", c.Bucket))
	}
	if c.Prefix != "" {
		if err := store.CheckName(c.Prefix); err != nil {
			errs = append(errs, fmt.Errorf("prefix: %w", err))
		}
	}
	if _, _, err := c.host(); err != nil {
		errs = append(errs, err)
	}
	if c.Timeout < 0 {
		errs = append(errs, fmt.Errorf("timeout must not be negative: %v", c.Timeout))
	}
	if c.MaxAttempts < 0 {
		errs = append(errs, fmt.Errorf("max_attempts must not be negative: %d", c.MaxAttempts))
	}
	if c.PartSize != 0 && c.PartSize < minPartSize {
		errs = append(errs, fmt.Errorf("part_size must be at least %d: %d", minPartSize, c.PartSize))
	}
	return errors.Join(errs...)
}

// host is the endpoint as the client wants it.
func (c *Config) host() (host string, secure bool, err error) {
	endpoint := c.Endpoint
	if endpoint == "" {
		return "s3.amazonaws.com", true, nil
	}
	if !strings.Contains(endpoint, "://") {
		endpoint = "https://" + endpoint
	}
	u, err := url.Parse(endpoint)
	if err != nil {
		return "", false, fmt.Errorf("endpoint: %w", err)
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return "", false, fmt.Errorf("endpoint %q: the scheme must be http or https", u.Redacted())
	case u.Host == "":
		return "", false, fmt.Errorf("endpoint %q: no host", u.Redacted())
	case u.User != nil, strings.Trim(u.Path, "/") != "", u.RawQuery != "", u.Fragment != "":
		return "", false, fmt.Errorf("endpoint %q: only a scheme, a host and a port can be given", u.Redacted())
	}
	return u.Host, u.Scheme == "https", nil
}

func or[T comparable](v, fallback T) T {
	var zero T
	if v == zero {
		return fallback
	}
	return v
}
