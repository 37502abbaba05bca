package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// Streams is what a command reads, writes and asks of its surroundings.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// Env looks up an environment variable; "" is unset.
	Env func(name string) string
}

// OS gives the streams of the process.
func OS() Streams { return Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.Getenv} }

// app is what all verbs share.
type app struct {
	Streams
	server, store, tenant string
	// token and ca are for servers that want to know who asks, and that have a
	// certificate of a private authority.
	token, ca string
	// stored are the bodies that --server or --store has.
	stored storedBodies
}

// defaultServer is where the exporter listens unless configured otherwise.
const defaultServer = "http://127.0.0.1:4380"

// Main runs one command line and returns its exit code.
func Main(args []string, s Streams) int { return mainWith(context.Background(), args, s) }

func mainWith(ctx context.Context, args []string, s Streams) int {
	a := &app{Streams: s}
	a.stored.app = a
	defer a.stored.close()
	root := a.root()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var e *exitError
	if err != nil && (!errors.As(err, &e) || e.err != nil) {
		a.note("%s", err)
	}
	return exitCode(err)
}

// note writes one line to standard error.
func (a *app) note(format string, args ...any) {
	line := strings.Join(strings.FieldsFunc(fmt.Sprintf(format, args...), isLineBreak), " ")
	_, _ = fmt.Fprintln(a.Err, "tape: "+clean(line))
}

func isLineBreak(r rune) bool { return r == '\n' || r == '\r' }

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "tape",
		Short: "List, pull, show, import and replay the tapes of agent runs",
		Long: `tape works with tapes: the recorded tool and model calls of one agent run.

Exit codes: 0 good; 1 the thing asked about is not so (drift, miss, exhausted,
unconsumed, gaps, invalid); 2 bad usage or unreadable input; 3 not found or out
of reach.`,
		Version:       versionText(),
		SilenceUsage:  true,
		SilenceErrors: true,
		// A word that is no verb is an error, not a reason to print the help.
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return notAVerb(args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage("%s: %w", cmd.Name(), err)
	})
	root.CompletionOptions.HiddenDefaultCmd = true
	f := root.PersistentFlags()
	f.StringVar(&a.server, "server", "", "URL of the tape API (default $TAPE_SERVER, then "+defaultServer+")")
	f.StringVar(&a.store, "store", "", "tape store to read in place of a server: a directory or s3://bucket/prefix")
	f.StringVar(&a.tenant, "tenant", "", "tenant whose runs are looked at (default $"+tenantVariable+", then runs without one)")
	f.StringVar(&a.token, "token", "", "token the server wants, or @FILE to read it from (default $"+tokenVariable+", which others on the machine do not see)")
	f.StringVar(&a.ca, "ca", "", "PEM file with the authorities to trust for https (default $"+caVariable+", then those of the system)")
	root.MarkFlagsMutuallyExclusive("server", "store")
	root.MarkFlagsMutuallyExclusive("store", "token")
	root.MarkFlagsMutuallyExclusive("store", "ca")
	root.SetHelpCommand(helpCmd(root))
	root.AddCommand(a.verbs()...)
	return root
}

// helpCmd is the help of cobra, but for a word that is no verb, which is an error
// here as everywhere.
func helpCmd(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [VERB]",
		Short: "Show the help of a verb",
		Args:  args(0, 1),
		RunE: func(_ *cobra.Command, argv []string) error {
			verb, rest, err := root.Find(argv)
			if err != nil || len(rest) > 0 {
				return notAVerb(argv[0])
			}
			verb.InitDefaultHelpFlag()
			verb.InitDefaultVersionFlag()
			return verb.Help()
		},
	}
}

func notAVerb(word string) error { return usage("%q is not a verb; tape --help lists them", word) }

// args wants between least and most arguments, most < 0 for any number, and
// says how the verb is called when there are others.
func args(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || most >= 0 && len(args) > most {
			return usage("call it as: %s", cmd.UseLine())
		}
		return nil
	}
}

// jsonFlag adds --json to a verb that prints a report.
func jsonFlag(cmd *cobra.Command, to *bool) {
	cmd.Flags().BoolVar(to, "json", false, "print the report as JSON")
}

// outFlag adds -o to a verb that writes data.
func outFlag(cmd *cobra.Command, to *string) {
	cmd.Flags().StringVarP(to, "output", "o", "-", "file to write, - for standard output")
}
