package cli

import "strings"

// storeClient gives the API over a store read in place.
func (a *app) storeClient() (*client, func(), error) {
	if scheme, _, ok := strings.Cut(a.store, "://"); ok {
		return nil, nil, usage("--store takes a directory, and %s://… is none: name a server that has that store with --server", scheme)
	}
	return nil, nil, usage("--store: not built in")
}
