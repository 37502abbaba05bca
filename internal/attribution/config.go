package attribution

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"

	"github.com/tapedeck/tapedeck/internal/yamlfile"
)

// Config extends the built-in table. The zero value is the table alone.
type Config struct {
	// Rules are asked beside the built-in ones; see [Rule].
	Rules []Rule `mapstructure:"rules" yaml:"rules"`
	// ApprovalTools are tools that need an approval, as globs such as "pay_*":
	// one that failed without an approval id lacked it.
	ApprovalTools []string `mapstructure:"approval_tools" yaml:"approval_tools"`
}

// Rule finds a class in a recorded error. It fits when the call is of one of the
// Tools, if there are any, and one of Codes, Phrases or Pattern is found, if there
// are any.
type Rule struct {
	Class string `mapstructure:"class" yaml:"class"`
	// Tools are globs of tool names, as in path.Match.
	Tools []string `mapstructure:"tools" yaml:"tools"`
	// Codes match the error's code or type as a whole, in any case: an HTTP
	// status, a JSON-RPC code, an exception class without its package.
	Codes []string `mapstructure:"codes" yaml:"codes"`
	// Phrases match anywhere in the error's message, in any case, on word
	// borders.
	Phrases []string `mapstructure:"phrases" yaml:"phrases"`
	// Pattern is a regular expression (RE2) over the error's message.
	Pattern string `mapstructure:"pattern" yaml:"pattern"`
}

// FieldError says which field of a [Config] is wrong.
type FieldError = yamlfile.FieldError

// Validate reports everything that is wrong, each a [*FieldError].
func (c *Config) Validate() error {
	var faults []error
	add := func(err error, format string, args ...any) {
		faults = append(faults, &FieldError{Path: fmt.Sprintf(format, args...), Err: err})
	}
	globs := func(list []string, field string) {
		for i, g := range list {
			if err := checkGlob(g); err != nil {
				add(err, "%s[%d]", field, i)
			}
		}
	}
	texts := func(list []string, field string) {
		for i, s := range list {
			if s == "" {
				add(errors.New("empty"), "%s[%d]", field, i)
			}
		}
	}
	for i, r := range c.Rules {
		at := fmt.Sprintf("rules[%d]", i)
		if !slices.Contains(causes, r.Class) {
			add(fmt.Errorf("%q is none of %q", r.Class, causes), "%s.class", at)
		}
		if len(r.Tools)+len(r.Codes)+len(r.Phrases)+len(r.Pattern) == 0 {
			add(errors.New("fits every failure: name tools, codes, phrases or a pattern"), "%s", at)
		}
		globs(r.Tools, at+".tools")
		texts(r.Codes, at+".codes")
		texts(r.Phrases, at+".phrases")
		if _, err := regexp.Compile(r.Pattern); err != nil {
			add(err, "%s.pattern", at)
		}
	}
	globs(c.ApprovalTools, "approval_tools")
	return errors.Join(faults...)
}

func checkGlob(g string) error {
	if g == "" {
		return errors.New("empty")
	}
	if _, err := path.Match(g, ""); err != nil {
		return fmt.Errorf("%q is not a glob: %w", g, err)
	}
	return nil
}

func matchGlob(globs []string, name string) string {
	for _, g := range globs {
		if ok, _ := path.Match(g, name); ok {
			return g
		}
	}
	return ""
}
