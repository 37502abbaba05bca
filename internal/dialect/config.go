package dialect

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Config is what a user may tell a translation: which attributes fill the
// record members that no dialect has of its own, which tools write, and which
// results and scores are failures. [DefaultConfig] is what holds without one. The
// mapstructure names are those of the collector's configuration.
type Config struct {
	// Caller are the members of caller_context, such as "user", each with its
	// attributes, of which the first present is taken. Like PromptVersion they
	// are also looked for on the spans above the call, the nearest first, and on
	// the resource. A name metadata.X is also found as member X of an attribute
	// metadata that holds JSON, as OpenInference writes it.
	Caller        map[string][]string `mapstructure:"caller_context"`
	PromptVersion []string            `mapstructure:"prompt_version"`
	// PolicyResult, ApprovalID and SideEffect belong to one call and are looked
	// for on its own span alone.
	PolicyResult []string `mapstructure:"policy_result"`
	ApprovalID   []string `mapstructure:"approval_id"`
	// SideEffect attributes are booleans, or the texts true and false.
	SideEffect []string `mapstructure:"side_effect"`
	// Tools say by name which tools have side effects, where no attribute does.
	Tools ToolPatterns `mapstructure:"tools"`
	// InBand are rules by which the result of a tool shows a failure, or that it
	// shows none. They are asked before the signs; the first that fits counts.
	InBand []InBandRule `mapstructure:"in_band"`
	// InBandSigns are the built-in signs of a failure in a result that hold for
	// all tools, of those that the variable of this name lists. An empty list
	// switches them off.
	InBandSigns []string `mapstructure:"in_band_signs"`
	// EvaluationScores are rules by which the score of an evaluation shows that a run
	// failed, beside its label; the first that fits the name counts.
	EvaluationScores []ScoreRule `mapstructure:"evaluation_scores"`
	// Expires are rules for how long the answers of tools stay true, after which a
	// replay of them warns; the first that fits the name of the tool counts.
	Expires []ExpiryRule `mapstructure:"expires"`
	// TenantAttribute is the resource attribute that names the tenant of a run.
	TenantAttribute string `mapstructure:"tenant_attribute"`
}

// ToolPatterns are globs over tool names, as path.Match has them. A tool that
// fits both lists has side effects.
type ToolPatterns struct {
	// ReadOnly tools have no side effect.
	ReadOnly []string `mapstructure:"read_only"`
	// SideEffect tools have one.
	SideEffect []string `mapstructure:"side_effect"`
}

// DefaultConfig has the names of OpenTelemetry, OpenInference, Langfuse,
// LangSmith, OpenLLMetry and Vercel, all signs, and no patterns and rules.
func DefaultConfig() *Config {
	return &Config{
		Caller: map[string][]string{
			"user": {
				"user.id", "enduser.id", "langfuse.user.id", "langsmith.metadata.user_id",
				"traceloop.association.properties.user_id", "ai.telemetry.metadata.userId", "metadata.user_id",
			},
			"tenant": {
				"tenant.id", "organization.id", "enduser.organization.id", "langfuse.trace.metadata.tenant_id",
				"langsmith.metadata.tenant_id", "traceloop.association.properties.tenant_id", "metadata.tenant_id",
			},
			"role": {
				"user.roles", "enduser.role", "langfuse.trace.metadata.role", "langsmith.metadata.role", "metadata.role",
			},
			"permissions": {"enduser.scope", "langsmith.metadata.permissions", "metadata.permissions"},
		},
		PromptVersion: []string{
			"gen_ai.prompt.version", "llm.prompt_template.version", "langfuse.observation.prompt.version",
			"langsmith.metadata.prompt_version", "traceloop.prompt.version", "ai.telemetry.metadata.promptVersion", "metadata.prompt_version",
		},
		PolicyResult: []string{
			"policy.result", "gen_ai.tool.policy.result", "langfuse.observation.metadata.policy_result",
			"langsmith.metadata.policy_result", "metadata.policy_result",
		},
		ApprovalID: []string{
			"approval.id", "gen_ai.tool.approval.id", "langfuse.observation.metadata.approval_id",
			"langsmith.metadata.approval_id", "metadata.approval_id",
		},
		SideEffect: []string{
			"tool.side_effect", "gen_ai.tool.side_effect", "langfuse.observation.metadata.side_effect",
			"langsmith.metadata.side_effect", "metadata.side_effect",
		},
		InBandSigns: slices.Clone(InBandSigns),
	}
}

// defaultConfig is shared; nothing writes to it.
var defaultConfig = DefaultConfig()

// Validate names every setting that cannot work, joined.
func (c *Config) Validate() error {
	var errs []error
	names := func(place string, list []string) {
		for i, name := range list {
			if strings.TrimSpace(name) == "" {
				errs = append(errs, fmt.Errorf("%s[%d]: an attribute name is empty", place, i))
			}
		}
	}
	for member, list := range c.Caller {
		if member == "" {
			errs = append(errs, errors.New("caller_context: a member has no name"))
		}
		names("caller_context::"+member, list)
	}
	names("prompt_version", c.PromptVersion)
	names("policy_result", c.PolicyResult)
	names("approval_id", c.ApprovalID)
	names("side_effect", c.SideEffect)
	globs := func(place string, list []string) {
		for i, glob := range list {
			if err := checkGlob(glob); err != nil {
				errs = append(errs, fmt.Errorf("%s[%d]: %w", place, i, err))
			}
		}
	}
	globs("tools::read_only", c.Tools.ReadOnly)
	globs("tools::side_effect", c.Tools.SideEffect)
	for i := range c.InBand {
		if err := c.InBand[i].Validate(); err != nil {
			errs = append(errs, fmt.Errorf("in_band[%d]: %w", i, err))
		}
	}
	for i := range c.EvaluationScores {
		if err := c.EvaluationScores[i].Validate(); err != nil {
			errs = append(errs, fmt.Errorf("evaluation_scores[%d]: %w", i, err))
		}
	}
	for i := range c.Expires {
		if err := c.Expires[i].Validate(); err != nil {
			errs = append(errs, fmt.Errorf("expires[%d]: %w", i, err))
		}
	}
	for i, sign := range c.InBandSigns {
		if !slices.Contains(InBandSigns, sign) {
			errs = append(errs, fmt.Errorf("in_band_signs[%d]: %q is none of %q", i, sign, InBandSigns))
		}
	}
	return errors.Join(errs...)
}

func checkGlob(glob string) error {
	if glob == "" {
		return errors.New("a pattern is empty")
	}
	if _, err := path.Match(glob, ""); err != nil {
		return fmt.Errorf("pattern %q: %w", glob, err)
	}
	return nil
}

// sideEffect is what the patterns say of a tool, nil for nothing.
func (p *ToolPatterns) sideEffect(tool string) *bool {
	for _, list := range [...]struct {
		globs  []string
		effect bool
	}{{p.SideEffect, true}, {p.ReadOnly, false}} {
		for _, glob := range list.globs {
			if matches(glob, tool) {
				return &list.effect
			}
		}
	}
	return nil
}

// matches reports whether a tool fits a glob; one that is wrong fits nothing.
func matches(glob, tool string) bool {
	ok, err := path.Match(glob, tool)
	return ok && err == nil
}
