package tapeprocessor

import (
	"sync"

	"github.com/tapedeck/tapedeck/internal/attr"
)

const (
	// maxServices bounds the time series of a metric by service: names come from
	// senders, and some put ids of hosts or runs into them.
	maxServices = 100
	// maxServiceName bounds what a name takes in memory and in each scrape, in bytes.
	maxServiceName = 256

	// otherService stands for all services after the first maxServices.
	otherService = "other"
	// unknownService stands for runs without a service name.
	unknownService = "unknown"
)

// services are the names that have time series of their own. The zero value is
// ready.
type services struct {
	mu    sync.Mutex
	known map[string]struct{}
}

// label is what a service is called in metrics.
func (s *services) label(name string) string {
	if name == "" {
		return unknownService
	}
	name = attr.ClipText(name, maxServiceName)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.known[name]; ok {
		return name
	}
	if len(s.known) == maxServices {
		return otherService
	}
	if s.known == nil {
		s.known = make(map[string]struct{})
	}
	s.known[name] = struct{}{}
	return name
}
