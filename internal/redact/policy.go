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
const engineVersion = 2

// oldestVersion is the oldest of which the rules can still be applied as they
// were. Rules of version 1 know of nothing opaque.
const oldestVersion = 1

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
	Enable  []string  `json:"enable,omitempty"`
	// Surrogate is nil where placeholders take the place of secrets.
	Surrogate *surrogateSet `json:"surrogate,omitempty"`
}

// Policy redacts texts and JSON. It is safe for concurrent use.
type Policy struct {
	set   ruleSet
	keys  *keyMatcher
	scan  *scanner
	allow []*regexp.Regexp
	off   map[string]bool
	// cards, ibans, phones: the rule is on.
	cards, ibans, phones bool
	// key is that of surrogates, nil if placeholders are used.
	key []byte
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
	set := ruleSet{Version: engineVersion, Keys: builtinKeys(), Allow: cfg.Allow, Disable: cfg.Disable, Enable: cfg.Enable}
	for _, k := range cfg.Keys {
		set.Keys.Phrases[typeSecret] = append(set.Keys.Phrases[typeSecret], strings.Join(splitWords(k), " ")+"+!")
	}
	set.Keys.Allow = append(set.Keys.Allow, cfg.AllowKeys...)
	set.Custom = cfg.Rules
	for _, r := range builtinRules() {
		set.Values = append(set.Values, r.Rule)
	}
	var key []byte
	if cfg.Surrogate != nil {
		key = []byte(string(cfg.Surrogate.Key))
		set.Surrogate = newSurrogateSet(key)
	}
	return build(set, key)
}

func build(rs ruleSet, key []byte) (*Policy, error) {
	p := &Policy{set: rs, off: set(rs.Disable), key: key}
	for _, t := range optionalTypes {
		p.off[t] = !slices.Contains(rs.Enable, t)
	}
	p.cards, p.ibans, p.phones = !p.off[typeCard], !p.off[typeIBAN], !p.off[typePhone]
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

// Option is an option of [FromManifest].
type Option func(*options)

type options struct{ key string }

// WithKey gives the key of keyed surrogates, which is in no manifest. A policy
// without surrogates has no use for it.
func WithKey(key string) Option { return func(o *options) { o.key = key } }

// FromManifest rebuilds the policy that redacted a tape, so that live arguments
// are redacted as recorded ones were. It fails with [ErrVersion] when the rules
// are of a kind this package does not know, and with [ErrKeyNeeded] or
// [ErrKeyWrong] when the policy makes surrogates and the key is not there.
func FromManifest(m *tape.Redaction, opts ...Option) (*Policy, error) {
	if m == nil {
		return nil, errors.New("redaction: the manifest names no policy")
	}
	if d := Default(); m.Policy == d.manifest.Policy {
		return d, nil
	}
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	p, err := fromRules(m.Rules, []byte(o.key))
	if err != nil {
		return nil, fmt.Errorf("redaction rules of policy %q: %w", m.Policy, err)
	}
	return p, nil
}

func fromRules(rules json.RawMessage, key []byte) (*Policy, error) {
	var set ruleSet
	if err := json.Unmarshal(rules, &set); err != nil {
		return nil, err
	}
	if set.Version < oldestVersion || set.Version > engineVersion {
		return nil, fmt.Errorf("%w %d", ErrVersion, set.Version)
	}
	switch {
	case set.Surrogate == nil:
		key = nil
	case len(key) == 0:
		return nil, ErrKeyNeeded
	case *newSurrogateSet(key) != *set.Surrogate:
		return nil, ErrKeyWrong
	}
	return build(set, key)
}

// KeySecret reports whether a member of that name holds a secret, and of which
// type.
func (p *Policy) KeySecret(name string) (typ string, ok bool) {
	j := p.keys.judge(name)
	return j.typ, j.secret
}
