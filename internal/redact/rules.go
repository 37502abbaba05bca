package redact

// builtinRule is a value rule beside texts that it must and must not catch.
type builtinRule struct {
	Rule
	pos, neg []string
}

func builtinRules() []builtinRule {
	return []builtinRule{
		{Rule: Rule{Type: "jwt", Keywords: []string{"eyJ"}, Expression: `^eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}`}},
		{Rule: Rule{Type: "openai_key", Keywords: []string{"sk-"}, Expression: `^sk-(?:proj-)?[A-Za-z0-9_-]{20,}`}},
		{Rule: Rule{Type: "aws_access_key", Keywords: []string{"AKIA", "ASIA"}, Expression: `^A[KS]IA[0-9A-Z]{16}\b`}},
		{Rule: Rule{Type: "github_token", Keywords: []string{"ghp_", "gho_", "ghs_", "ghu_", "ghr_"}, Expression: `^gh[pousr]_[A-Za-z0-9]{36,}`}},
		{Rule: Rule{Type: "private_key", Keywords: []string{"-----BEGIN"}, Expression: `^-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z ]*PRIVATE KEY-----|$)`}},
	}
}

func knownType(t string) bool {
	for _, r := range builtinRules() {
		if r.Type == t {
			return true
		}
	}
	for _, p := range builtinKeys().Phrases {
		if p.Type == t {
			return true
		}
	}
	return false
}
