package s3

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/tapedeck/tapedeck/internal/store"
)

// Codes of S3 that mean more than their status.
const (
	preconditionFailed = "PreconditionFailed"
	notImplemented     = "NotImplemented"
	noSuchKey          = "NoSuchKey"
	noSuchBucket       = "NoSuchBucket"
	clockSkewed        = "RequestTimeTooSkewed"
)

func responseOf(err error) (minio.ErrorResponse, bool) {
	var resp minio.ErrorResponse
	ok := errors.As(err, &resp)
	return resp, ok
}

func codeOf(err error) string {
	resp, ok := responseOf(err)
	switch {
	case !ok:
		return ""
	case resp.StatusCode == http.StatusPreconditionFailed:
		return preconditionFailed
	case resp.StatusCode == http.StatusNotImplemented:
		return notImplemented
	default:
		return resp.Code
	}
}

// isNotFound tells a missing object from a missing bucket, whose answer to a HEAD
// has no code.
func isNotFound(err error) bool {
	resp, ok := responseOf(err)
	return ok && (resp.Code == noSuchKey || resp.StatusCode == http.StatusNotFound && resp.Code != noSuchBucket)
}

// fleeting reports whether the same request may well succeed in a moment.
func fleeting(err error) bool {
	resp, ok := responseOf(err)
	if !ok {
		// No answer: the connection broke, or the answer stalled or was cut.
		return true
	}
	switch resp.StatusCode {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return true
	case http.StatusNotImplemented:
		return false
	}
	return resp.StatusCode >= http.StatusInternalServerError || passing[resp.Code]
}

// passing are codes of other statuses, mostly 400, that are gone with the next
// request.
var passing = map[string]bool{
	"SlowDown": true, "InternalError": true, "RequestTimeout": true, "ExpiredToken": true,
	// The body was changed or cut on its way.
	"BadDigest": true, "IncompleteBody": true,
}

// mendable are codes of status 400 that are about whoever asks or about the bucket,
// not about the object: somebody can mend them, and the object must not be lost
// until then.
var mendable = map[string]bool{
	"ExpiredToken": true, "InvalidToken": true, "TokenRefreshRequired": true,
	"AuthorizationHeaderMalformed": true, "AuthorizationQueryParametersError": true,
	"IllegalLocationConstraintException": true, "InvalidBucketName": true, "UserSuspended": true,
	"InvalidArgument": true, "InvalidStorageClass": true, "InvalidEncryptionAlgorithmError": true,
	"KMS.DisabledException": true, "KMS.InvalidKeyUsageException": true, "KMS.KMSInvalidStateException": true,
	"KMS.NotFoundException": true,
}

// classify gives an error the sentinel by which callers branch.
func classify(err error) error {
	resp, ok := responseOf(err)
	switch {
	case !ok:
		return err
	case isNotFound(err):
		return fmt.Errorf("%w: %w", store.ErrNotFound, err)
	case resp.Code == clockSkewed:
		return fmt.Errorf("the clock of this machine differs too much from the bucket's: %w", err)
	case passing[resp.Code], mendable[resp.Code]:
		return err
	}
	switch resp.StatusCode {
	case http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusLengthRequired,
		http.StatusRequestEntityTooLarge, http.StatusNotImplemented:
		return fmt.Errorf("%w: %w", store.ErrRefused, err)
	}
	return err
}

// Pauses between attempts: they double, and a random half of each is left out, so
// that many writers do not come back at once.
const (
	pauseFirst = 100 * time.Millisecond
	pauseMost  = 5 * time.Second
)

// retry calls fn until it succeeds, or fails in a way that will not pass.
func (b *Backend) retry(ctx context.Context, fn func(context.Context) error) error {
	ctx = withAttempts(ctx)
	for attempt := 1; ; attempt++ {
		err := fn(ctx)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !fleeting(err) || attempt >= b.cfg.MaxAttempts:
			return classify(err)
		}
		pause := min(pauseFirst<<(attempt-1), pauseMost)
		pause -= rand.N(pause / 2)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
