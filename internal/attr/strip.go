package attr

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// ours are the names that only Tapedeck writes.
var ours = map[string]bool{
	Kind: true, Seq: true, Key: true, Dialect: true, FailureClass: true, FailureEvidence: true,
	Outcome: true, Trigger: true, Redacted: true, Redaction: true, RedactionRules: true, Class: true, Summary: true,
}

// Strip removes every attribute of this package. What a sender writes under these
// names would be taken for a decision that was made here, and for content that was
// redacted here. Other tape.* attributes are a sender's to set and stay.
func Strip(m pcommon.Map) {
	m.RemoveIf(func(name string, _ pcommon.Value) bool {
		return strings.HasPrefix(name, Prefix) && (ours[name] || strings.HasPrefix(name, RunPrefix))
	})
}
