package cli

import (
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/tapedeck/tapedeck/internal/dry"
	"github.com/tapedeck/tapedeck/internal/mcpserve"
	"github.com/tapedeck/tapedeck/internal/serve"
	"github.com/tapedeck/tapedeck/tape"
)

// urlEnv names the server of a replay that runs, in the environment of its command.
const urlEnv = "TAPE_URL"

func (a *app) mcpCmd() *cobra.Command {
	var flags sessionFlags
	var server string
	cmd := &cobra.Command{
		Use:   "mcp [FILE]",
		Short: "Be an MCP server with the tools of a tape, on standard input and output",
		Long: `Be an MCP server on standard input and output whose tools are those of a tape:
write it where a client's configuration names the command of the real server. When
the client has ended, the report is printed on standard error; exit code 1 when the
replay was not clean.

Inside of tape run, the tape that runs answers, and its report counts the calls: then
FILE may be left out, and is not read. The flags for the session and its report are
those of tape run then.

Of a tape with the tools of several servers, under names such as
mcp__github__search, --name github offers those of one.`,
		Example: `  tape mcp failed.jsonl
  tape run failed.jsonl -- my-agent     # and "tape mcp --name github" in its configuration`,
		Args: args(0, 1),
		RunE: func(cmd *cobra.Command, argv []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			transport := &mcp.IOTransport{Reader: io.NopCloser(a.In), Writer: unclosed{a.Out}}
			if running := a.Env(urlEnv); running != "" {
				return unreachable(mcpserve.Bridge(ctx, running+"/mcp/"+server, transport))
			}
			if len(argv) == 0 {
				return usage("name the file of a tape: outside of tape run there is none that runs")
			}
			session, err := a.open(argv[0], &flags)
			if err != nil {
				return err
			}
			definitions, err := flags.definitions()
			if err != nil {
				return err
			}
			tools := mcpserve.OfTape(session.Tape(), definitions).Of(server)
			if err := mcpserve.Run(ctx, session, tools, transport); err != nil {
				a.note("%s", err)
			}
			return a.finish(session, &flags)
		},
	}
	flags.add(cmd)
	cmd.Flags().StringVar(&server, "name", "", "the server whose tools are offered, of several on the tape")
	return cmd
}

// unclosed keeps a stream open that is not ours to close.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// serving is how a session is served to other programs.
func (f *sessionFlags) serving() ([]serve.Option, error) {
	definitions, err := f.definitions()
	return []serve.Option{serve.WithSpeed(f.speed), serve.WithTools(definitions), serve.WithModelHosts(f.modelHosts...)}, err
}

func unreachable(err error) error {
	if err == nil {
		return nil
	}
	return &exitError{exitMissing, err}
}

// definitions are those of the file that MCP clients get in place of the tape's.
func (f *sessionFlags) definitions() ([]tape.Tool, error) {
	if f.mcpTools == "" {
		return nil, nil
	}
	tools, err := dry.ReadTools(f.mcpTools)
	if err != nil {
		return nil, usage("--mcp-tools: %w", err)
	}
	return tools, nil
}
