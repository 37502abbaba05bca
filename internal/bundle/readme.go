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
Run it:

    python3 tape.py tape.jsonl

That asks for every recorded call in turn, answers it from the tape and says what it
found; nothing is called for real. It needs Python 3.9 or later and nothing else, and
` + "`node tape.mjs tape.jsonl`" + ` does the same with Node 18 or later.

Run an agent against the recording, with the command ` + "`tape`" + `:

    tape run tape.jsonl -- CMD

CMD is the command that starts the agent. Its calls are answered from the tape, and the
command fails when the agent asks for something else than the recorded run did.
` + "`tape show tape.jsonl`" + ` shows the run. An agent that makes its calls through one of the
clients here needs no other command:

    TAPE_FILE=tape.jsonl CMD

| file | |
|---|---|
| tape.jsonl | the tape: JSON lines, first the manifest, then one record a call |
| tape.py, tape.mjs | the clients for Python and JavaScript; their first lines say how they are used |
| tape.d.mts | the types of tape.mjs |
| bundle.json | these files with their hashes, and the manifest of the tape |
`)
	if ix.bodies {
		b.WriteString("| bodies/ | large bodies that the tape names by their sha256; the clients and `tape run` read them |\n")
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
