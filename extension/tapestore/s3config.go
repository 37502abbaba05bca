package tapestore

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/encrypt"
	"github.com/tapedeck/tapedeck/internal/store/s3"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/config/configtls"
)

// S3Config configures a store in a bucket.
type S3Config struct {
	// Endpoint is a URL, or a host with an optional port, which means https. Empty
	// is Amazon's.
	Endpoint string `mapstructure:"endpoint"`
	// Bucket must exist.
	Bucket string `mapstructure:"bucket"`
	// Region signs requests; empty is us-east-1.
	Region string `mapstructure:"region"`
	// Prefix stands before the name of every object.
	Prefix string `mapstructure:"prefix"`
	// PathStyle puts the bucket into the path of URLs and not into the host, as most
	// servers other than Amazon's want it.
	PathStyle bool `mapstructure:"path_style"`
	// TLS of the connection to an https endpoint.
	TLS configtls.ClientConfig `mapstructure:"tls"`

	// Credentials says who signs requests.
	Credentials CredentialsConfig `mapstructure:"credentials"`
	// Encryption of objects by the server.
	Encryption EncryptionConfig `mapstructure:"encryption"`
	// StorageClass of objects; empty leaves it to the bucket.
	StorageClass string `mapstructure:"storage_class"`

	// Timeout bounds one request, and how long a body that is read may stand still.
	Timeout time.Duration `mapstructure:"timeout"`
	// MaxAttempts bounds how often a request is sent before its failure is handed on.
	MaxAttempts int `mapstructure:"max_attempts"`
	// PartSize is the size in bytes above which an object goes up in parts.
	PartSize int `mapstructure:"part_size"`

	// prevent unkeyed literal initialization
	_ struct{}
}

// CredentialsConfig says where credentials come from.
type CredentialsConfig struct {
	// Source is "auto" (static keys if given, else the environment, the shared
	// credentials file, web identity, and the role of the container or machine, in
	// this order), "static", "environment", "file", "role" (web identity, container
	// or machine), or "anonymous".
	Source string `mapstructure:"source"`
	// AccessKeyID, SecretAccessKey and SessionToken are static keys.
	AccessKeyID     string              `mapstructure:"access_key_id"`
	SecretAccessKey configopaque.String `mapstructure:"secret_access_key"`
	SessionToken    configopaque.String `mapstructure:"session_token"`

	// prevent unkeyed literal initialization
	_ struct{}
}

// EncryptionConfig says how the server encrypts objects.
type EncryptionConfig struct {
	// Type is empty (as the bucket does), "s3" (keys of the server), "kms" or
	// "customer".
	Type string `mapstructure:"type"`
	// KMSKeyID names the key of type kms; empty is the bucket's.
	KMSKeyID string `mapstructure:"kms_key_id"`
	// CustomerKey is the key of type customer: 32 bytes in base64.
	CustomerKey configopaque.String `mapstructure:"customer_key"`

	// prevent unkeyed literal initialization
	_ struct{}
}

func defaultS3() S3Config {
	return S3Config{
		TLS:         configtls.NewDefaultClientConfig(),
		Credentials: CredentialsConfig{Source: sourceAuto},
		Timeout:     s3.DefaultTimeout,
		MaxAttempts: s3.DefaultMaxAttempts,
		PartSize:    s3.DefaultPartSize,
	}
}

const (
	sourceAuto        = "auto"
	sourceStatic      = "static"
	sourceEnvironment = "environment"
	sourceFile        = "file"
	sourceRole        = "role"
	sourceAnonymous   = "anonymous"
)

// Validate checks what can be known without the bucket.
func (c *S3Config) Validate() error {
	backend := c.backend()
	_, err := c.Encryption.server()
	return errors.Join(backend.Validate(), c.Credentials.check(), err)
}

func (c *CredentialsConfig) check() error {
	keys := c.AccessKeyID != "" || c.SecretAccessKey != "" || c.SessionToken != ""
	switch {
	case keys && (c.AccessKeyID == "" || c.SecretAccessKey == ""):
		return errors.New("credentials: access_key_id and secret_access_key go together")
	case c.Source == sourceStatic && !keys:
		return errors.New("credentials: source static needs access_key_id and secret_access_key")
	case keys && c.Source != sourceAuto && c.Source != sourceStatic:
		return fmt.Errorf("credentials: source %s does not use access_key_id", c.Source)
	}
	switch c.Source {
	case sourceAuto, sourceStatic, sourceEnvironment, sourceFile, sourceRole, sourceAnonymous:
		return nil
	}
	return fmt.Errorf("credentials: source %q is none of auto, static, environment, file, role, anonymous", c.Source)
}

// roleTimeout bounds a request for the credentials of a role.
const roleTimeout = 10 * time.Second

// chain is what signs requests, nil for nobody. Credentials of roles are asked for
// through the client, from Amazon's addresses or those that the environment names.
func (c *CredentialsConfig) chain(region string, client *http.Client) *credentials.Credentials {
	static := &credentials.Static{Value: credentials.Value{
		AccessKeyID:     c.AccessKeyID,
		SecretAccessKey: string(c.SecretAccessKey),
		SessionToken:    string(c.SessionToken),
		SignerType:      credentials.SignatureV4,
	}}
	role := &credentials.IAM{Client: client, Region: region}
	switch c.Source {
	case sourceAnonymous:
		return nil
	case sourceStatic:
		return credentials.New(static)
	case sourceEnvironment:
		return credentials.New(&credentials.EnvAWS{})
	case sourceFile:
		return credentials.New(&credentials.FileAWSCredentials{})
	case sourceRole:
		return credentials.New(role)
	}
	if c.AccessKeyID != "" {
		return credentials.New(static)
	}
	return credentials.NewChainCredentials([]credentials.Provider{
		&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, role,
	})
}

func (c *EncryptionConfig) server() (encrypt.ServerSide, error) {
	if c.KMSKeyID != "" && c.Type != "kms" {
		return nil, errors.New("encryption: kms_key_id is of type kms alone")
	}
	if c.CustomerKey != "" && c.Type != "customer" {
		return nil, errors.New("encryption: customer_key is of type customer alone")
	}
	switch c.Type {
	case "":
		return nil, nil
	case "s3":
		return encrypt.NewSSE(), nil
	case "kms":
		return encrypt.NewSSEKMS(c.KMSKeyID, nil)
	case "customer":
		key, err := base64.StdEncoding.DecodeString(string(c.CustomerKey))
		if err != nil || len(key) != 32 {
			// The value itself must not get into a log.
			return nil, errors.New("encryption: customer_key must be 32 bytes in base64")
		}
		return encrypt.NewSSEC(key)
	}
	return nil, fmt.Errorf("encryption: type %q is none of s3, kms, customer", c.Type)
}

func (c *S3Config) backend() s3.Config {
	return s3.Config{
		Endpoint: c.Endpoint, Bucket: c.Bucket, Region: c.Region, Prefix: c.Prefix, PathStyle: c.PathStyle,
		StorageClass: c.StorageClass,
		Timeout:      c.Timeout, MaxAttempts: c.MaxAttempts, PartSize: c.PartSize,
	}
}

// open makes the backend. Nothing is sent.
func (c *S3Config) open(ctx context.Context, observe func(s3.Request)) (*s3.Backend, error) {
	cfg := c.backend()
	tls, err := c.TLS.LoadTLSConfig(ctx)
	if err != nil {
		return nil, fmt.Errorf("s3: tls: %w", err)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = tls
	transport.MaxIdleConnsPerHost = 16
	// Objects are compressed already, and the length of a body must be the object's.
	transport.DisableCompression = true
	cfg.Transport = transport
	cfg.Credentials = c.Credentials.chain(c.Region, &http.Client{Timeout: roleTimeout})
	if cfg.Encryption, err = c.Encryption.server(); err != nil {
		return nil, fmt.Errorf("s3: %w", err)
	}
	cfg.Observe = observe
	return s3.Open(cfg)
}
