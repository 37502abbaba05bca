package retention

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/tape"
)

func TestTheFirstRuleThatMatchesGivesTheClass(t *testing.T) {
	c := DefaultConfig()
	c.Rules = []Rule{
		{Class: Class{Name: "denied", Keep: Forever}, FailureClass: []string{"permission_denied", "approval_missing"}},
		{Class: Class{Name: "shop", Keep: Forever}, Service: []string{"shop"}, Tenant: []string{"acme", "zeta"}},
		{Class: Class{Name: "prod", Keep: Forever}, Attributes: map[string][]string{"environment": {"prod"}, "tools": {"pay", "refund"}}},
		{Class: Class{Name: "bad", Keep: Forever}, Outcome: []string{"failed"}},
	}
	require.NoError(t, c.Validate())
	p := c.Policy()
	for want, rows := range map[string][]tape.Row{
		"denied": {{FailureClass: "approval_missing", Service: "shop", Tenant: "acme", Outcome: "failed"}},
		"shop":   {{Service: "shop", Tenant: "zeta"}},
		"prod":   {{Environment: "prod", Tools: []string{"look", "refund"}, Outcome: "failed"}},
		"bad":    {{Outcome: "failed", Service: "shop"}, {Outcome: "failed", Environment: "prod", Tools: []string{"look"}}},
		"kept":   {{}, {Outcome: "succeeded"}},
		"pinned": {{Outcome: "failed", KeptBecause: tape.KeptAsked}},
	} {
		for _, row := range rows {
			got := p.ClassOf(row)
			assert.Equal(t, want, got, "%+v", row)
			require.NoError(t, store.CheckClass(got))
		}
	}
}

func TestDefaultClasses(t *testing.T) {
	c := DefaultConfig()
	require.NoError(t, c.Validate())
	for outcome, want := range map[tape.Outcome]string{
		tape.OutcomeFailed: ClassFailures, tape.OutcomeRecovered: ClassFailures, tape.OutcomeIncomplete: ClassFailures,
		tape.OutcomeSucceeded: ClassKept, "": ClassKept,
	} {
		assert.Equal(t, want, c.Policy().ClassOf(tape.Row{Outcome: outcome}))
	}
}

func TestValidateNamesTheRule(t *testing.T) {
	for want, change := range map[string]func(*Config){
		"rules::0: name":                         func(c *Config) { c.Rules[0].Name = "../x" },
		"rules::0: keep must be given":           func(c *Config) { c.Rules[0].Keep = 0 },
		"rules::0: it asks for nothing":          func(c *Config) { c.Rules[0].Outcome = nil },
		`rules::0: outcome: "bad" is none of`:    func(c *Config) { c.Rules[0].Outcome = []string{"bad"} },
		`rules::0: failure_class: "x" is none`:   func(c *Config) { c.Rules[0].FailureClass = []string{"x"} },
		`rules::0: attributes: a row has no "x"`: func(c *Config) { c.Rules[0].Attributes = map[string][]string{"x": {"y"}} },
		"attributes: agent: no value":            func(c *Config) { c.Rules[0].Attributes = map[string][]string{"agent": nil} },
		"rules::0: max_bytes":                    func(c *Config) { c.Rules[0].MaxBytes = -1 },
		"default: name: there is another":        func(c *Config) { c.Default.Name = c.Rules[0].Name },
		"the class pinned is for runs":           func(c *Config) { c.Default.Name = "pinned" },
		"rules::0: keep must be":                 func(c *Config) { c.Rules[0].Keep = 30 },
		"summaries: keep":                        func(c *Config) { c.Summaries.Keep = 0 },
		"grace must be at least 1h":              func(c *Config) { c.Grace = time.Minute },
		"interval must not be negative":          func(c *Config) { c.Interval = -1 },
	} {
		c := DefaultConfig()
		c.Rules = []Rule{{Class: Class{Name: "a", Keep: Forever}, Outcome: []string{"failed"}}}
		require.NoError(t, c.Validate())
		change(&c)
		require.ErrorContains(t, c.Validate(), want)
	}
}

func TestKeep(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"30d": 30 * day, "4w": 28 * day, "36h": 36 * time.Hour, "\t1d": day, "90m": 90 * time.Minute, "forever": time.Duration(Forever),
	} {
		var k Keep
		require.NoError(t, k.UnmarshalText([]byte(text)))
		assert.Equal(t, want, time.Duration(k), text)
		again, err := k.MarshalText()
		require.NoError(t, err)
		var same Keep
		require.NoError(t, same.UnmarshalText(again))
		assert.Equal(t, k, same)
	}
	for _, text := range []string{"", "d", "0d", "-1d", "0s", "3", "3 days", "1.5d", "200000000d", "for ever"} {
		var k Keep
		require.Error(t, k.UnmarshalText([]byte(text)), text)
		assert.Zero(t, k)
	}
}

func FuzzKeep(f *testing.F) {
	for _, s := range []string{"30d", "forever", "4w", "1h2m", "999999d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var k Keep
		if k.UnmarshalText([]byte(s)) != nil {
			return
		}
		assert.Positive(t, k)
		var again Keep
		require.NoError(t, again.UnmarshalText([]byte(k.String())))
		assert.Equal(t, k, again, strings.ToValidUTF8(s, "?"))
	})
}
