package redact

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tapedeck/tapedeck/tape"
)

// engineVersion names how rules are applied. It changes when equal rules would
// redact differently.
const engineVersion = 1

// ErrVersion marks a manifest whose rules this package cannot apply.
var ErrVersion = errors.New("unknown redaction rules version")

// ruleSet is a whole policy as data, as the manifest of a tape carries it.
type ruleSet struct {
	Version int       `json:"version"`
	Keys    keyTables `json:"keys"`
	Custom  []Rule    `json:"custom,omitempty"`
	Values  []Rule    `json:"values"`
	Allow   []string  `json:"allow,omitempty"`
	Disable []string  `json:"disable,omitempty"`
}

// Policy redacts texts and JSON. It is safe for concurrent use.
type Policy struct {
	set   ruleSet
	keys  *keyMatcher
	scan  *scanner
	allow []*regexp.Regexp
	off   map[string]bool
	// cards: the rule for card numbers is on.
	cards bool
	// clean remembers names that hold no secret themselves.
	clean cleanNames
	// shortNames: no rule matches inside short plain names.
	shortNames bool
	manifest   tape.Redaction
}

var defaultPolicy = sync.OnceValue(func() *Policy {
	p, err := New(Config{})
	if err != nil {
		// The built-in rules are constants; a test compiles them.
		panic(err)
	}
	return p
})

// Default is the policy of the zero [Config].
func Default() *Policy { return defaultPolicy() }

// New makes a policy of the built-in rules and cfg.
func New(cfg Config) (*Policy, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("redaction: %w", err)
	}
	set := ruleSet{Version: engineVersion, Keys: builtinKeys(), Allow: cfg.Allow, Disable: cfg.Disable}
	for _, k := range cfg.Keys {
		set.Keys.Phrases[typeSecret] = append(set.Keys.Phrases[typeSecret], strings.Join(splitWords(k), " ")+"+!")
	}
	set.Keys.Allow = append(set.Keys.Allow, cfg.AllowKeys...)
	set.Custom = cfg.Rules
	for _, r := range builtinRules() {
		set.Values = append(set.Values, r.Rule)
	}
	return build(set)
}

func build(rs ruleSet) (*Policy, error) {
	p := &Policy{set: rs, off: set(rs.Disable)}
	p.cards = !p.off[typeCard]
	p.shortNames = len(rs.Custom) == 0
	p.keys = newKeyMatcher(rs.Keys, p.off)
	var err error
	if p.scan, err = newScanner(slices.Concat(rs.Custom, rs.Values), p.off, rs.Version >= 2); err != nil {
		return nil, err
	}
	for i, e := range rs.Allow {
		re, err := regexp.Compile(e)
		if err != nil {
			return nil, fmt.Errorf("allow[%d]: %w", i, err)
		}
		p.allow = append(p.allow, re)
	}
	rules, err := json.Marshal(rs)
	if err != nil {
		return nil, fmt.Errorf("encode rules: %w", err)
	}
	sum := sha256.Sum256(rules)
	p.manifest = tape.Redaction{
		Policy: fmt.Sprintf("v%d:%s", rs.Version, hex.EncodeToString(sum[:8])),
		Rules:  rules,
	}
	return p, nil
}

// Manifest is the policy as a tape carries it: an id that is equal for equal
// rules, and the rules themselves.
func (p *Policy) Manifest() *tape.Redaction {
	m := p.manifest
	m.Rules = bytes.Clone(m.Rules)
	return &m
}

// FromManifest rebuilds the policy that redacted a tape. It fails with
// [ErrVersion] when the rules are of a kind this package does not know.
func FromManifest(m *tape.Redaction) (*Policy, error) {
	if m == nil {
		return nil, errors.New("redaction: the manifest names no policy")
	}
	if d := Default(); m.Policy == d.manifest.Policy {
		return d, nil
	}
	var set ruleSet
	if err := json.Unmarshal(m.Rules, &set); err != nil {
		return nil, fmt.Errorf("redaction rules of policy %q: %w", m.Policy, err)
	}
	if set.Version != engineVersion {
		return nil, fmt.Errorf("redaction rules of policy %q: %w %d", m.Policy, ErrVersion, set.Version)
	}
	p, err := build(set)
	if err != nil {
		return nil, fmt.Errorf("redaction rules of policy %q: %w", m.Policy, err)
	}
	return p, nil
}

// KeySecret reports whether a member of that name holds a secret, and of which
// type.
func (p *Policy) KeySecret(name string) (typ string, ok bool) {
	j := p.keys.judge(name)
	return j.typ, j.secret
}
