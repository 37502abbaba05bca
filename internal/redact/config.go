package redact

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
)

// Config adds to the built-in rules. The zero value is the default policy.
type Config struct {
	// Enable lists rule types that are off unless they are asked for: "iban" and
	// "phone".
	Enable []string `mapstructure:"enable" json:"enable,omitempty" yaml:"enable,omitempty"`
	// Disable lists rule types that shall not apply, such as "email".
	Disable []string `mapstructure:"disable" json:"disable,omitempty" yaml:"disable,omitempty"`
	// Keys lists further member names whose values are secret. They match in
	// any spelling (snake, kebab, camel case, dotted) and as part of longer
	// names: "tenant pin" matches tenantPin and x-tenant-pin.
	Keys []string `mapstructure:"keys" json:"keys,omitempty" yaml:"keys,omitempty"`
	// AllowKeys lists member names that are never secret by name, in any
	// spelling, matched as a whole.
	AllowKeys []string `mapstructure:"allow_keys" json:"allow_keys,omitempty" yaml:"allow_keys,omitempty"`
	// Allow lists expressions (RE2). A value match inside a range that one of
	// them matches stays; the rest of the text is redacted all the same.
	Allow []string `mapstructure:"allow" json:"allow,omitempty" yaml:"allow,omitempty"`
	// Rules lists further value rules.
	Rules []Rule `mapstructure:"rules" json:"rules,omitempty" yaml:"rules,omitempty"`
	// Surrogate, if set, puts keyed surrogates in place of placeholders.
	Surrogate *Surrogate `mapstructure:"surrogate" json:"surrogate,omitempty" yaml:"surrogate,omitempty"`
}

// Surrogate is the section for keyed surrogates: values of the same form as the
// secrets they stand for, equal for equal secrets.
type Surrogate struct {
	// Key is what surrogates are derived from, 16 bytes or more. The manifest of
	// a tape does not hold it; see [WithKey].
	Key Secret `mapstructure:"key" json:"key" yaml:"key"`
}

// Rule finds secrets by their form.
type Rule struct {
	// Type names the rule in placeholders: lower-case letters, digits and "_".
	Type string `mapstructure:"type" json:"type" yaml:"type"`
	// Keywords are literals of at least three bytes. A match must contain one
	// of them, so that the expression runs only where one stands.
	Keywords []string `mapstructure:"keywords" json:"keywords" yaml:"keywords"`
	// Expression is the form (RE2). If it has a group, the first group is what
	// gets replaced, else the whole match.
	Expression string `mapstructure:"expression" json:"expression" yaml:"expression"`
	// Validate names a check that decides on what the expression found:
	// "luhn", "entropy" or "" for none.
	Validate string `mapstructure:"validate" json:"validate,omitempty" yaml:"validate,omitempty"`
}

// Secret is a text that is neither printed nor written: a configuration that is
// logged does not show it. It is what configopaque.String is, without the
// collector's packages, which have no place in the command line.
type Secret string

const masked = "[REDACTED]"

// String is what is printed for every secret.
func (Secret) String() string { return masked }

// GoString is what is printed for %#v.
func (Secret) GoString() string { return strconv.Quote(masked) }

// MarshalText is what is written for every secret.
func (Secret) MarshalText() ([]byte, error) { return []byte(masked), nil }

// Validate reports every fault of the configuration, each with its place.
func (c Config) Validate() error {
	var errs []error
	for i, r := range c.Rules {
		if _, err := r.compile(); err != nil {
			errs = append(errs, fmt.Errorf("rules[%d]: %w", i, err))
		}
	}
	for i, e := range c.Allow {
		re, err := regexp.Compile(e)
		if err == nil && re.MatchString("") {
			err = errors.New("matches the empty text")
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("allow[%d]: %w", i, err))
		}
	}
	for i, k := range c.Keys {
		if len(splitWords(k)) == 0 {
			errs = append(errs, fmt.Errorf("keys[%d]: %q has no letter or digit", i, k))
		}
	}
	for i, k := range c.AllowKeys {
		if len(splitWords(k)) == 0 {
			errs = append(errs, fmt.Errorf("allow_keys[%d]: %q has no letter or digit", i, k))
		}
	}
	for i, t := range c.Disable {
		if !knownType(t) {
			errs = append(errs, fmt.Errorf("disable[%d]: no rule has the type %q", i, t))
		}
	}
	for i, t := range c.Enable {
		switch {
		case !slices.Contains(optionalTypes, t):
			errs = append(errs, fmt.Errorf("enable[%d]: %q is none of the types that are off by default, %q", i, t, optionalTypes))
		case slices.Contains(c.Disable, t):
			errs = append(errs, fmt.Errorf("enable[%d]: %q is disabled too", i, t))
		}
	}
	if c.Surrogate != nil && len(c.Surrogate.Key) < minKey {
		errs = append(errs, fmt.Errorf("surrogate: key: shorter than %d bytes", minKey))
	}
	return errors.Join(errs...)
}

// compile checks the rule and returns its expression.
func (r Rule) compile() (*regexp.Regexp, error) {
	if !validType(r.Type) {
		return nil, fmt.Errorf("type: %q is not lower-case letters, digits and _ (1 to %d)", r.Type, maxTypeLen)
	}
	if len(r.Keywords) == 0 {
		return nil, errors.New("keywords: at least one is needed")
	}
	for i, k := range r.Keywords {
		if len(k) < minKeyword {
			return nil, fmt.Errorf("keywords[%d]: %q is shorter than %d bytes", i, k, minKeyword)
		}
	}
	re, err := regexp.Compile(r.Expression)
	if err != nil {
		return nil, fmt.Errorf("expression: %w", err)
	}
	if re.MatchString("") {
		return nil, errors.New("expression: matches the empty text")
	}
	if _, ok := validators[r.Validate]; !ok {
		return nil, fmt.Errorf("validate: no check is named %q", r.Validate)
	}
	return re, nil
}
