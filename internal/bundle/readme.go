package bundle

import (
	"bytes"
	"fmt"
)

// readme says what the bundle is. It shows nothing of what an agent wrote: whoever
// opens it may see it rendered.
func readme(ix *index) []byte {
	var b bytes.Buffer
	b.WriteString("# A recorded agent run\n\n")
	if ix.TraceID != "" {
		fmt.Fprintf(&b, "Run `%s`, %d steps.\n", ix.TraceID, ix.Records)
	} else {
		fmt.Fprintf(&b, "%d steps.\n", ix.Records)
	}
	b.WriteString(`
Run your agent against the recording:

    tape run tape.jsonl -- CMD

CMD is the command that starts the agent. Its tool and model calls are answered from
the tape, nothing is called for real, and the command fails when the agent asks for
something else than the recorded run did. ` + "`tape serve tape.jsonl`" + ` answers calls
from an agent that is started in another way; ` + "`tape show tape.jsonl`" + ` shows the run.

| file | |
|---|---|
| tape.jsonl | the tape: JSON lines, first the manifest, then one record a call |
| bundle.json | these files with their hashes, and the manifest of the tape |
`)
	if len(ix.Files) > 1 {
		b.WriteString("| bodies/ | large bodies that the tape names by their sha256; `tape run` answers such a call with a gap |\n")
	}
	if m := ix.Manifest; m != nil && (!m.Complete || len(m.Gaps) > 0) {
		if m.Complete {
			b.WriteString("\nThe recording lacks something that a replay does not need.")
		} else {
			b.WriteString("\nThe recording is not complete: a strict replay meets gaps.")
		}
		b.WriteString(" `tape doctor tape.jsonl` says what\nis missing and why.\n")
	}
	b.WriteString("\nThe tape holds what users and models said, after redaction. Treat it as such.\n")
	return b.Bytes()
}
