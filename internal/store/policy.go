package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tapedeck/tapedeck/tape"
)

const (
	policiesFolder = "policies/"
	policySuffix   = ".json.zst"
)

// PutPolicy stores the rules that spans are redacted with, under the id that
// the spans name: a replay needs them to redact live arguments the same way,
// also when the rules in force have changed since. Policies are few and small;
// none is ever removed. They are the operator's, not a tenant's: all are in the
// store that has no tenant.
func (s *Store) PutPolicy(ctx context.Context, policy *tape.Redaction) error {
	name, err := policyName(policy.Policy)
	if err != nil {
		return err
	}
	s = s.tenants.root
	if s.known.has(name) {
		return nil
	}
	text, err := json.Marshal(policy)
	if err != nil {
		return fmt.Errorf("policy %s: %w: %w", policy.Policy, ErrDamaged, err)
	}
	packed, err := s.codec.encode(text)
	if err != nil {
		return fmt.Errorf("policy %s: %w", policy.Policy, err)
	}
	begun := s.now()
	if err := s.backend.Put(ctx, name, packed); err != nil {
		return fmt.Errorf("write policy %s: %w", policy.Policy, err)
	}
	s.known.add(name, begun)
	return nil
}

// Policy reads a policy by its id. The error is ErrNotFound when it was not
// stored.
func (s *Store) Policy(ctx context.Context, id string) (*tape.Redaction, error) {
	name, err := policyName(id)
	if err != nil {
		return nil, err
	}
	text, err := s.tenants.root.read(ctx, name)
	if err != nil {
		return nil, err
	}
	policy := &tape.Redaction{}
	if err := json.Unmarshal(text, policy); err != nil || policy.Policy != id {
		return nil, fmt.Errorf("read %s: %w: not the policy %s", name, ErrDamaged, id)
	}
	return policy, nil
}

func policyName(id string) (string, error) {
	name := strings.ReplaceAll(id, ":", "-") + policySuffix
	if err := checkSegment(name); err != nil {
		return "", fmt.Errorf("policy %q: %w", id, err)
	}
	return policiesFolder + name, nil
}
