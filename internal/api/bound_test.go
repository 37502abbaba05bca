package api_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/api"
)

func TestMoreRequestsThanAllowedWaitAndAreThenSentAway(t *testing.T) {
	f := newFixture(t)
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		handler := api.New(f.store, api.Options{MaxRequests: 1, Keep: func(context.Context, string, string) (api.Kept, error) {
			<-release
			return api.KeptNow, nil
		}})
		ask := func() *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/tapes/"+kept+"/keep", nil))
			return w
		}
		first := make(chan int)
		go func() { first <- ask().Code }()
		synctest.Wait()
		w := ask()
		require.Equal(t, http.StatusServiceUnavailable, w.Code)
		assert.Equal(t, "1", w.Header().Get("Retry-After"))
		assert.Equal(t, "busy", failureOf(t, w).Error.Code)

		second := make(chan int)
		go func() { second <- ask().Code }()
		synctest.Wait()
		close(release)
		assert.Equal(t, http.StatusOK, <-first)
		assert.Equal(t, http.StatusOK, <-second, "who waits gets the turn that is given back")
	})
}

func TestATurnIsGivenBack(t *testing.T) {
	f := newFixture(t)
	handler := api.New(f.store, api.Options{MaxRequests: 1})
	for range 3 {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/tapes/"+kept, nil))
		assert.Equal(t, http.StatusOK, w.Code)
	}
}
