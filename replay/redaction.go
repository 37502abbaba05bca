package replay

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/tape"
)

// redactionOf is the policy by which both sides of a replay are redacted, and what
// the report has to warn of. By is set where the tape was redacted by that policy.
func redactionOf(t *tape.Tape, surrogateKey string) (policy *redact.Policy, by bool, warning string, err error) {
	policy = redact.Default()
	if t.Manifest == nil || t.Manifest.Redaction == nil {
		return policy, false, "", nil
	}
	named := t.Manifest.Redaction
	if rules := bytes.TrimSpace(named.Rules); (len(rules) == 0 || string(rules) == "null") && named.Policy != policy.Manifest().Policy {
		for i := range t.Records {
			if r := &t.Records[i]; redactedInArgs(r) {
				return nil, false, "", fmt.Errorf("the tape names redaction policy %q without its rules, and the arguments of record %d are redacted: those of a call could not be redacted the same way", named.Policy, max(r.Seq, i+1))
			}
		}
		return policy, false, fmt.Sprintf("the tape names redaction policy %q without its rules: both sides are redacted by the default policy", named.Policy), nil
	}
	if policy, err = redact.FromManifest(named, redact.WithKey(surrogateKey)); err != nil {
		return nil, false, "", fmt.Errorf("redaction policy of the tape: %w", err)
	}
	return policy, true, "", nil
}

// redactedInArgs reports whether a record says that a value in its arguments was
// redacted. One that is redacted and does not say where counts.
func redactedInArgs(r *tape.Record) bool {
	for _, path := range r.Redacted {
		if strings.HasPrefix(path, "args") {
			return true
		}
	}
	return r.Fidelity == tape.FidelityRedacted && len(r.Redacted) == 0
}
