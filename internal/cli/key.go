package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/tape"
)

// keyReport is what key --json prints.
type keyReport struct {
	Tool      string `json:"tool"`
	Key       string `json:"key"`
	Canonical string `json:"canonical"`
	ArgsHash  string `json:"args_hash"`
}

func (a *app) keyCmd() *cobra.Command {
	var asJSON, redacted bool
	cmd := &cobra.Command{
		Use:   "key TOOL ARGS_JSON",
		Short: "Print the key of a call",
		Long: `Print the key that a call of TOOL with these arguments has: the tool, a colon
and 12 hex digits of the hash of the canonical arguments. ARGS_JSON may be - to
read the arguments from standard input.

Tapes hold the keys of redacted arguments. With --redact the default policy is
applied first; arguments without secrets have the same key either way.`,
		Example: `  tape key fetch_doc '{"url": "https://example.com"}'`,
		Args:    args(2, 2),
		RunE: func(_ *cobra.Command, argv []string) error {
			raw, err := a.textArg(argv[1])
			if err != nil {
				return err
			}
			if redacted {
				raw, _ = redact.Default().JSON(raw)
			}
			canonical, err := tape.Canonical(raw)
			if err != nil {
				return fmt.Errorf("the arguments: %w", err)
			}
			key, hash, err := tape.KeyAndHash(argv[0], raw)
			if err != nil {
				return fmt.Errorf("the arguments: %w", err)
			}
			if asJSON {
				return a.printJSON(keyReport{argv[0], key, string(canonical), hash})
			}
			return a.print(key + "\n")
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.Flags().BoolVar(&redacted, "redact", false, "redact the arguments first, as recording does")
	return cmd
}
