package s3

import (
	"bytes"
	"context"
	"crypto/md5" // #nosec G501 -- S3 asks for it with this call
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
)

// ErrNoLifecycle says that the bucket does not know lifecycle rules.
var ErrNoLifecycle = errors.New("the bucket has no lifecycle rules")

// LifecycleRule has the bucket delete what is below a folder of the store.
type LifecycleRule struct {
	// Name tells the rules of one store apart.
	Name string
	// Folder ends in a slash; "" is all of the store.
	Folder string
	// Days after which an object goes; 0 is never.
	Days int
	// AbortDays after which an upload in parts is given up; 0 is never.
	AbortDays int
}

// SetLifecycle makes these the rules of this store in the bucket. Rules of others
// stay as they are, byte for byte, and are counted. Who changes the rules of a bucket
// at the same time may undo it, or be undone: S3 knows no condition for it. The error
// is ErrNoLifecycle where the bucket has no such rules, or accepts them and forgets.
func (b *Backend) SetLifecycle(ctx context.Context, rules []LifecycleRule) (foreign int, err error) {
	before, minimum, err := b.lifecycle(ctx)
	if err != nil {
		return 0, err
	}
	var others []lifecycleRule
	for _, r := range before.Rules {
		if !strings.HasPrefix(r.ID, b.rulePrefix()) {
			others = append(others, r)
		}
	}
	body, err := b.lifecycleXML(others, rules)
	if err != nil {
		return 0, err
	}
	if len(others)+len(rules) == 0 {
		if len(before.Rules) == 0 {
			return 0, nil
		}
		_, _, err = b.sendLifecycle(ctx, http.MethodDelete, "", nil)
		return 0, err
	}
	if _, _, err := b.sendLifecycle(ctx, http.MethodPut, minimum, body); err != nil {
		return 0, err
	}
	after, _, err := b.lifecycle(ctx)
	if err != nil {
		return 0, err
	}
	if len(after.Rules) != len(others)+len(rules) {
		return 0, fmt.Errorf("%w: %d were accepted and %d are there", ErrNoLifecycle, len(others)+len(rules), len(after.Rules))
	}
	return len(others), nil
}

// rulePrefix is how the ids of this store's rules begin. No prefix has a colon.
func (b *Backend) rulePrefix() string { return "tapedeck:" + b.prefix + ":" }

type lifecycleConfig struct {
	XMLName xml.Name        `xml:"LifecycleConfiguration"`
	Rules   []lifecycleRule `xml:"Rule"`
}

type lifecycleRule struct {
	ID string `xml:"ID"`
	// Prefix is where it stood before there were filters.
	Prefix *string `xml:"Prefix"`
	// Inner is all of it as it came.
	Inner string `xml:",innerxml"`
}

func (b *Backend) lifecycleXML(others []lifecycleRule, rules []LifecycleRule) ([]byte, error) {
	var buf bytes.Buffer
	buf.WriteString(`<LifecycleConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">`)
	// The two ways to write a prefix do not go together in one configuration.
	early := false
	for _, r := range others {
		early = early || r.Prefix != nil
		buf.WriteString("<Rule>" + r.Inner + "</Rule>")
	}
	type days struct {
		Days int `xml:"Days,omitempty"`
		Init int `xml:"DaysAfterInitiation,omitempty"`
	}
	type filter struct {
		Prefix string `xml:"Prefix"`
	}
	for _, r := range rules {
		out := struct {
			XMLName xml.Name `xml:"Rule"`
			ID      string   `xml:"ID"`
			Status  string   `xml:"Status"`
			Filter  *filter  `xml:"Filter"`
			Prefix  *string  `xml:"Prefix"`
			Expire  *days    `xml:"Expiration"`
			Abort   *days    `xml:"AbortIncompleteMultipartUpload"`
		}{ID: b.rulePrefix() + r.Name, Status: "Enabled"}
		prefix := b.prefix + r.Folder
		if early {
			out.Prefix = &prefix
		} else {
			out.Filter = &filter{prefix}
		}
		if r.Days > 0 {
			out.Expire = &days{Days: r.Days}
		}
		if r.AbortDays > 0 {
			out.Abort = &days{Init: r.AbortDays}
		}
		text, err := xml.Marshal(out)
		if err != nil {
			return nil, fmt.Errorf("lifecycle rule %s: %w", r.Name, err)
		}
		buf.Write(text)
	}
	buf.WriteString("</LifecycleConfiguration>")
	return buf.Bytes(), nil
}

// lifecycle reads the rules of the bucket, and the header that goes with them.
func (b *Backend) lifecycle(ctx context.Context) (*lifecycleConfig, string, error) {
	text, minimum, err := b.sendLifecycle(ctx, http.MethodGet, "", nil)
	if codeOf(err) == "NoSuchLifecycleConfiguration" {
		return &lifecycleConfig{}, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	c := &lifecycleConfig{}
	if err := xml.Unmarshal(text, c); err != nil {
		// A server that does not know the call answers as to another.
		return nil, "", fmt.Errorf("%w: the answer is another's: %w", ErrNoLifecycle, err)
	}
	return c, minimum, nil
}

const (
	minimumHeader = "X-Amz-Transition-Default-Minimum-Object-Size"
	// maxLifecycle bounds the answer that is read: S3 allows 1,000 rules.
	maxLifecycle = 8 << 20
)

// sendLifecycle sends a request about the rules. The client's own methods for it read
// the rules of others into a form that does not have all of what they may say.
func (b *Backend) sendLifecycle(ctx context.Context, method, minimum string, body []byte) (text []byte, min string, err error) {
	err = b.retry(ctx, func(ctx context.Context) error {
		signed := http.Header{}
		if minimum != "" {
			signed.Set(minimumHeader, minimum)
		}
		u, err := b.client.PresignHeader(ctx, method, b.cfg.Bucket, "", 15*time.Minute, url.Values{"lifecycle": {""}}, signed)
		if err != nil {
			return err
		}
		req, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
		if err != nil {
			return err
		}
		for name := range signed {
			req.Header.Set(name, signed.Get(name))
		}
		if body != nil {
			sum := md5.Sum(body) // #nosec G401 -- as above
			req.Header.Set("Content-Md5", base64.StdEncoding.EncodeToString(sum[:]))
			req.Header.Set("Content-Type", "application/xml")
		}
		resp, err := (&http.Client{Transport: b.transport}).Do(req)
		var failed *url.Error
		if errors.As(err, &failed) {
			// Without the URL, which is signed.
			return failed.Err
		}
		if err != nil {
			return err
		}
		defer func() { _ = resp.Body.Close() }()
		if text, err = io.ReadAll(io.LimitReader(resp.Body, maxLifecycle)); err != nil {
			return err
		}
		min = resp.Header.Get(minimumHeader)
		if resp.StatusCode/100 == 2 {
			return nil
		}
		answer := minio.ErrorResponse{}
		if xml.Unmarshal(text, &answer) != nil || answer.Code == "" {
			answer.Code = resp.Status
		}
		answer.StatusCode = resp.StatusCode
		return answer
	})
	if resp, ok := responseOf(err); ok && (resp.StatusCode == http.StatusNotImplemented || resp.StatusCode == http.StatusMethodNotAllowed || resp.Code == notImplemented) {
		err = fmt.Errorf("%w: %w", ErrNoLifecycle, err)
	}
	return text, min, err
}
