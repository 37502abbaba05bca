package logfold

import (
	"crypto/sha256"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// sessionKeys name the session or conversation a record or a span belongs to, the
// narrower ones first.
var sessionKeys = []string{"gen_ai.conversation.id", "conversation.id", "session.id", "thread.id"}

// SessionOf is the session or conversation that attributes name, "" for none.
func SessionOf(maps ...pcommon.Map) string {
	for _, m := range maps {
		for _, key := range sessionKeys {
			if s := text(m, key); s != "" {
				return s
			}
		}
	}
	return ""
}

// TraceIDOf is the trace id of a run that is known only by its session: the first
// sixteen bytes of the SHA-256 of "tape.session:" and the session's id. It is the
// same wherever and whenever records of the session are read.
func TraceIDOf(session string) (id pcommon.TraceID) {
	sum := sha256.Sum256([]byte("tape.session:" + session))
	copy(id[:], sum[:])
	return id
}
