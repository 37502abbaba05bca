package regress

import (
	"cmp"
	"encoding/json"
	"io"
	"net/url"
	"path/filepath"
	"slices"
)

// The part of SARIF 2.1.0 that a failing tape needs.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name  string      `json:"name"`
		Rules []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string    `json:"id"`
		ShortDescription sarifText `json:"shortDescription"`
	}
	sarifText   struct{ Text string }
	sarifResult struct {
		RuleID              string            `json:"ruleId"`
		RuleIndex           int               `json:"ruleIndex"`
		Level               string            `json:"level"`
		Message             sarifText         `json:"message"`
		Locations           []sarifLocation   `json:"locations"`
		PartialFingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		PhysicalLocation sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		ArtifactLocation sarifArtifact `json:"artifactLocation"`
		Region           *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
)

// MarshalJSON gives {"text": …}.
func (t sarifText) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]string{"text": t.Text})
}

// sarifRules are what can be wrong, in this order.
var sarifRules = []struct{ member, text string }{
	{"answer", "The final answer is not the expected one"},
	{"answer_contains", "The final answer lacks a text"},
	{"answer_matches", "The final answer does not match"},
	{"drift", "A call differs from the record it should have been"},
	{"error", "The case could not be run"},
	{"exhausted", "A call came more often than it was recorded"},
	{"exit_code", "The command ended with another exit code"},
	{"gaps", "A recorded answer was never captured"},
	{"live_calls", "A call ran live"},
	{"misses", "A call is not on the tape"},
	{"side_effects", "A call with side effects ran live"},
	{"timeout", "The command took too long"},
	{"unconsumed", "A record was not asked for"},
}

// SARIF writes the report as SARIF 2.1.0, each failure a result at the line of the
// record concerned.
func (r *Report) SARIF(w io.Writer) error {
	run := sarifRun{Tool: sarifTool{sarifDriver{Name: "tape test"}}, Results: []sarifResult{}}
	for _, rule := range sarifRules {
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{"tape/" + rule.member, sarifText{rule.text}})
	}
	for i := range r.Results {
		res := &r.Results[i]
		for _, f := range res.Failures {
			place := sarifPhysical{ArtifactLocation: sarifArtifact{uri(res.Tape)}}
			if f.Line > 0 {
				place.Region = &sarifRegion{f.Line}
			}
			// A member without a rule cannot be: a test holds the two together.
			index := slices.IndexFunc(sarifRules, func(rule struct{ member, text string }) bool { return rule.member == f.Member })
			run.Results = append(run.Results, sarifResult{
				RuleID: "tape/" + f.Member, RuleIndex: index, Level: "error", Message: sarifText{cmp.Or(f.Message, f.Member)},
				Locations:           []sarifLocation{{place}},
				PartialFingerprints: map[string]string{"tape/v1": filepath.ToSlash(res.Name) + ":" + f.Member},
			})
		}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(sarifLog{
		Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run},
	})
}

// uri is a path as a reference of a URI: relative paths stay relative.
func uri(path string) string {
	u := url.URL{Path: filepath.ToSlash(path)}
	if filepath.IsAbs(path) {
		u.Scheme = "file"
	}
	return u.String()
}
