package api

import (
	"errors"
	"net/http"

	"github.com/tapedeck/tapedeck/internal/store"
)

const (
	// tenantHeader names the tenant as other backends of telemetry have it.
	tenantHeader = "X-Scope-OrgID"
	tenantMember = "tenant"
)

// forTenant is the server with the store of the tenant that a request is for: it
// answers from that store alone. Whether the sender may ask for that tenant is for
// an auth extension or a proxy to say, as with other backends that have the header.
func (s *server) forTenant(r *http.Request) (*server, error) {
	name := r.Header.Get(tenantHeader)
	if len(r.Header.Values(tenantHeader)) > 1 {
		return nil, &apiError{http.StatusBadRequest, codeBadQuery, tenantHeader + " is given more than once", nil}
	}
	if r.URL.RawQuery != "" {
		values, err := parseMembers(r.URL.RawQuery)
		if err != nil {
			return nil, err
		}
		if given, ok := values[tenantMember]; ok {
			asked, err := single(tenantMember, given)
			switch {
			case err != nil:
				return nil, err
			case name != "" && name != asked:
				return nil, badQuery(tenantMember, "is not what "+tenantHeader+" says")
			}
			name = asked
		}
	}
	if name == "" {
		return s, nil
	}
	st, err := s.store.Tenant(name)
	if errors.Is(err, store.ErrBadName) {
		return nil, badQuery(tenantMember, "is longer than any tenant here")
	}
	if err != nil {
		return nil, err
	}
	of := *s
	of.store, of.tenant = st, name
	return &of, nil
}
