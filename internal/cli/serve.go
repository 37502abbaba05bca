package cli

import (
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/tapedeck/tapedeck/internal/serve"
)

func (a *app) serveCmd() *cobra.Command {
	var flags sessionFlags
	var world worldFlags
	var listen string
	cmd := &cobra.Command{
		Use:   "serve FILE",
		Short: "Answer calls from a tape over HTTP",
		Long: `Answer calls from a tape over HTTP on the loopback interface. The URL is printed
first, on standard output; POST {"tool": …, "args": …} to URL/v1/call, or point the
SDK of a model there: URL/v1 for OpenAI, URL for Anthropic and Gemini. On SIGINT or
SIGTERM the report is printed; exit code 1 when the replay was not clean.`,
		Args: args(1, 1),
		RunE: func(cmd *cobra.Command, argv []string) error {
			more, err := a.worldOptions(&world, 1)
			if err != nil {
				return err
			}
			session, err := a.open(argv[0], &flags, more...)
			if err != nil {
				return err
			}
			options, err := flags.serving()
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			listener, err := serve.Listen(ctx, listen)
			if err != nil {
				return err
			}
			if err := a.print(serve.URL(listener) + "\n"); err != nil {
				return errors.Join(err, listener.Close())
			}
			if err := serve.New(session, options...).Serve(ctx, listener); err != nil {
				a.note("%s", err)
			}
			return a.finish(session, &flags)
		},
	}
	flags.add(cmd)
	world.add(cmd)
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "loopback address to listen on")
	return cmd
}
