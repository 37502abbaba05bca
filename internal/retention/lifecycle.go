package retention

import (
	"context"
	"fmt"
	"time"

	"github.com/tapedeck/tapedeck/internal/store"
)

// BucketRule has a bucket delete by itself what is old.
type BucketRule struct {
	// Name tells the rules of one store apart.
	Name string `json:"name"`
	// Folder of the store; "" is all of it.
	Folder string `json:"folder"`
	// Days after which an object goes; 0 is never.
	Days int `json:"days,omitempty"`
	// AbortDays after which an unfinished upload is given up; 0 is never.
	AbortDays int `json:"abort_days,omitempty"`
}

// BucketRules is what stands now as rules of a bucket. A bucket counts whole days
// from when an object was stored, so they are rounded up. A body may be a week older
// than the last tape of its week, which may have been stored a grace period after its
// decision. Pinned runs, and classes that are kept forever, have no rule; nor has the
// index, when anything is kept forever. The error is ErrNoPolicy, or says that no
// policy has stood for its grace period.
func (s *Sweeper) BucketRules(ctx context.Context) ([]BucketRule, error) {
	st, err := standing(ctx, s.Store, s.Policy, s.now())
	if err != nil {
		return nil, err
	}
	if ok, when := st.inForce(); !ok {
		return nil, &NotYetError{when}
	}
	tenants, err := s.Store.Tenants(ctx)
	if err != nil {
		return nil, err
	}
	rules := []BucketRule{{Name: "uploads", AbortDays: days(st.grace)}}
	for _, tenant := range append([]string{""}, tenants...) {
		folder, err := store.TenantFolder(tenant)
		if err != nil {
			return nil, fmt.Errorf("tenant %q: %w", tenant, err)
		}
		rules = append(rules, st.bucketRules(folder)...)
	}
	return rules, nil
}

// NotYetError says that nothing goes by a policy yet.
type NotYetError struct{ When time.Time }

func (e *NotYetError) Error() string {
	return "no policy has stood for its grace period yet: nothing goes before " + e.When.UTC().Format(time.RFC3339)
}

func (s *Standing) bucketRules(folder string) []BucketRule {
	var rules []BucketRule
	names := []string{}
	for i := range s.policies[0].Rules {
		names = append(names, s.policies[0].Rules[i].Name)
	}
	for _, name := range append(names, s.policies[0].Default.Name) {
		class, _ := s.class(name)
		if class.Keep == Forever {
			continue
		}
		keep := time.Duration(class.Keep)
		rules = append(rules,
			BucketRule{Name: folder + "tapes/" + name, Folder: folder + "tapes/" + name + "/", Days: days(keep)},
			BucketRule{Name: folder + "blobs/" + name, Folder: folder + "blobs/" + name + "/", Days: days(keep+7*day+s.grace) + 1})
	}
	if _, longest := s.bounds(); longest != Forever {
		rules = append(rules, BucketRule{Name: folder + "index", Folder: folder + "index/", Days: days(time.Duration(longest)+rowSlack) + 1})
	}
	return rules
}

// days are whole days, no fewer.
func days(d time.Duration) int { return int((d + day - 1) / day) }
