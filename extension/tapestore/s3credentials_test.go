package tapestore

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/config/configopaque"
)

// metadataService stands for all services that give credentials to roles. Requests
// reach it whatever host they are for.
type metadataService struct {
	*httptest.Server
	// asked are the requests, as "METHOD URL".
	asked []string
	// valid is how long what it gives is good for.
	valid time.Duration
	deny  bool
}

func newMetadataService(t *testing.T) *metadataService {
	t.Helper()
	m := &metadataService{valid: time.Hour}
	m.Server = httptest.NewServer(http.HandlerFunc(m.serve))
	t.Cleanup(m.Close)
	return m
}

// RoundTrip implements http.RoundTripper.
func (m *metadataService) RoundTrip(r *http.Request) (*http.Response, error) {
	m.asked = append(m.asked, r.Method+" "+r.URL.Scheme+"://"+r.URL.Host+r.URL.Path)
	to, err := url.Parse(m.URL)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = to.Scheme, to.Host
	return http.DefaultTransport.RoundTrip(r)
}

func (m *metadataService) serve(w http.ResponseWriter, r *http.Request) {
	until := time.Now().Add(m.valid).UTC().Format(time.RFC3339)
	const answer = `{"Code":"Success","AccessKeyId":"key of %s","SecretAccessKey":"secret","Token":"session","Expiration":%q}`
	switch {
	case m.deny:
		w.WriteHeader(http.StatusForbidden)
	case r.URL.Path == "/" && r.FormValue("Action") == "AssumeRoleWithWebIdentity":
		_, _ = fmt.Fprintf(w, `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials>`+
			`<AccessKeyId>key of %s with %s</AccessKeyId><SecretAccessKey>secret</SecretAccessKey><SessionToken>session</SessionToken><Expiration>%s</Expiration>`+
			`</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`, r.FormValue("RoleArn"), r.FormValue("WebIdentityToken"), until)
	case r.URL.Path == "/latest/api/token" && r.Method == http.MethodPut:
		_, _ = fmt.Fprint(w, "imds-token")
	case strings.HasPrefix(r.URL.Path, "/latest/") && r.Header.Get("X-Aws-Ec2-Metadata-Token") != "imds-token":
		w.WriteHeader(http.StatusUnauthorized)
	case r.URL.Path == "/latest/meta-data/iam/security-credentials/":
		_, _ = fmt.Fprint(w, "machine")
	case r.URL.Path == "/latest/meta-data/iam/security-credentials/machine":
		_, _ = fmt.Fprintf(w, answer, "machine", until)
	case r.URL.Path == "/container":
		_, _ = fmt.Fprintf(w, answer, "container", until)
	case r.URL.Path == "/pod" && r.Header.Get("Authorization") == "pod-token":
		_, _ = fmt.Fprintf(w, answer, "pod", until)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// withoutCredentials empties the environment of those of whoever runs the test.
func withoutCredentials(t *testing.T) {
	t.Helper()
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "")
		}
	}
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", filepath.Join(t.TempDir(), "none"))
}

func write(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

func TestWhereCredentialsComeFrom(t *testing.T) {
	keys := map[string]string{"AWS_ACCESS_KEY_ID": "key of the environment", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "session"}
	file := func(t *testing.T) map[string]string {
		return map[string]string{"AWS_SHARED_CREDENTIALS_FILE": write(t, "[default]\naws_access_key_id = key of the file\naws_secret_access_key = secret\naws_session_token = session\n")}
	}
	webIdentity := func(t *testing.T) map[string]string {
		return map[string]string{"AWS_WEB_IDENTITY_TOKEN_FILE": write(t, "web-token"), "AWS_ROLE_ARN": "arn:aws:iam::1:role/tapes"}
	}
	static := CredentialsConfig{Source: sourceAuto, AccessKeyID: "key of the configuration", SecretAccessKey: "secret", SessionToken: "session"}
	for name, c := range map[string]struct {
		cfg   CredentialsConfig
		env   []map[string]string
		want  string
		asked []string
	}{
		"static keys before all others": {static, []map[string]string{keys, file(t), webIdentity(t)}, "key of the configuration", nil},
		"the environment":               {CredentialsConfig{Source: sourceAuto}, []map[string]string{keys, file(t), webIdentity(t)}, "key of the environment", nil},
		"the shared file":               {CredentialsConfig{Source: sourceAuto}, []map[string]string{file(t), webIdentity(t)}, "key of the file", nil},
		"a web identity": {
			CredentialsConfig{Source: sourceAuto},
			[]map[string]string{webIdentity(t)},
			"key of arn:aws:iam::1:role/tapes with web-token",
			[]string{"POST https://sts.eu-central-1.amazonaws.com"},
		},
		"the role of a container": {
			CredentialsConfig{Source: sourceAuto},
			[]map[string]string{{"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI": "/container"}},
			"key of container",
			[]string{"GET http://169.254.170.2/container"},
		},
		"the identity of a pod": {
			CredentialsConfig{Source: sourceAuto},
			[]map[string]string{{"AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://169.254.170.23/pod", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": write(t, "pod-token")}},
			"key of pod",
			[]string{"GET http://169.254.170.23/pod"},
		},
		"the role of a machine": {
			CredentialsConfig{Source: sourceAuto},
			nil,
			"key of machine",
			[]string{
				"PUT http://169.254.169.254/latest/api/token", "GET http://169.254.169.254/latest/meta-data/iam/security-credentials/",
				"GET http://169.254.169.254/latest/meta-data/iam/security-credentials/machine",
			},
		},
		"the role, though the environment has keys": {
			CredentialsConfig{Source: sourceRole},
			[]map[string]string{keys, file(t), webIdentity(t)},
			"key of arn:aws:iam::1:role/tapes with web-token",
			[]string{"POST https://sts.eu-central-1.amazonaws.com"},
		},
		"the file, though the environment has keys": {CredentialsConfig{Source: sourceFile}, []map[string]string{keys, file(t)}, "key of the file", nil},
	} {
		t.Run(name, func(t *testing.T) {
			withoutCredentials(t)
			for _, env := range c.env {
				for name, value := range env {
					t.Setenv(name, value)
				}
			}
			service := newMetadataService(t)
			chain := c.cfg.chain("eu-central-1", &http.Client{Transport: service})
			got, err := chain.GetWithContext(nil)
			require.NoError(t, err)
			assert.Equal(t, c.want, got.AccessKeyID)
			assert.Equal(t, "secret", got.SecretAccessKey)
			assert.Equal(t, "session", got.SessionToken)
			assert.Equal(t, c.asked, service.asked)
			_, err = chain.GetWithContext(nil)
			require.NoError(t, err)
			assert.Equal(t, c.asked, service.asked, "they are good for an hour")
		})
	}
	assert.Nil(t, (&CredentialsConfig{Source: sourceAnonymous}).chain("", http.DefaultClient))
}

func TestCredentialsOfARoleAreAskedForAgain(t *testing.T) {
	withoutCredentials(t)
	service := newMetadataService(t)
	service.valid = -time.Second
	cfg := CredentialsConfig{Source: sourceRole}
	chain := cfg.chain("", &http.Client{Transport: service})
	for n := 1; n <= 2; n++ {
		_, err := chain.GetWithContext(nil)
		require.NoError(t, err)
		assert.Len(t, service.asked, 3*n, "they have expired")
	}
	service.valid = time.Hour
	service.deny = true
	_, err := chain.GetWithContext(nil)
	require.Error(t, err)
	service.deny = false
	_, err = chain.GetWithContext(nil)
	require.NoError(t, err, "a refusal is not remembered")
}

func TestSecretsAreNotPrinted(t *testing.T) {
	cfg := defaultS3()
	cfg.Credentials.SecretAccessKey, cfg.Credentials.SessionToken = "very-secret", "very-secret"
	cfg.Encryption.CustomerKey = configopaque.String("very-secret")
	assert.NotContains(t, fmt.Sprintf("%v %+v %#v", cfg, cfg, cfg), "very-secret")
}
