package cli

import (
	"cmp"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/tapedeck/tapedeck/internal/serve"
	"github.com/tapedeck/tapedeck/replay"
)

func (a *app) runCmd() *cobra.Command {
	var flags sessionFlags
	var world worldFlags
	cmd := &cobra.Command{
		Use: "run FILE [flags] -- CMD...",
		// The flags stand before the command, which cobra would not say.
		DisableFlagsInUseLine: true,
		Short:                 "Run a command against a tape",
		Long: `Run a command whose calls are answered from a tape. The command finds the server
in $TAPE_URL; POST {"tool": …, "args": …} to $TAPE_URL/v1/call. The SDKs of OpenAI,
Anthropic and Gemini find it too, through $OPENAI_BASE_URL, $ANTHROPIC_BASE_URL and
$GOOGLE_GEMINI_BASE_URL, and get keys that are none. Signals are passed on to the
command. When it has ended, the report is printed on standard error.

What the command asks of other servers by HTTP and HTTPS goes to a proxy that answers
from the tape and refuses the rest; --no-proxy leaves that out, as do calls that run
live.

Exit code 1 when the replay was not clean: drift, miss, exhausted, gap, or
records that were never asked for. Else the command's own exit code, 128 and the
signal's number for one that was killed.`,
		Example: `  tape run failed.jsonl -- python agent.py`,
		Args: func(cmd *cobra.Command, argv []string) error {
			if cmd.ArgsLenAtDash() != 1 || len(argv) < 2 {
				return usage("call it as: tape run FILE [flags] -- CMD...")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, argv []string) error {
			return a.run(cmd.Context(), argv[0], argv[1:], &flags, &world)
		},
	}
	flags.add(cmd)
	flags.addHooks(cmd)
	world.add(cmd)
	world.addTrials(cmd)
	return cmd
}

func (a *app) run(ctx context.Context, file string, argv []string, flags *sessionFlags, world *worldFlags) error {
	options, err := flags.serving()
	if err != nil {
		return err
	}
	env, remove, err := a.hookTools(flags)
	if err != nil {
		return err
	}
	defer remove()
	if world.fork != 0 {
		return a.fork(ctx, file, argv, flags, world, env, options)
	}
	more, err := a.worldOptions(world, 1)
	if err != nil {
		return err
	}
	session, err := a.open(file, flags, more...)
	if err != nil {
		return err
	}
	code, err := a.trial(ctx, session, argv, env, flags, options)
	remove() // Whoever reads the report may stop reading, and end us.
	if err != nil {
		return err
	}
	if err := a.finish(session, flags); err != nil || code == exitOK {
		return err
	}
	return &exitError{code: code}
}

// serving answers calls from a session until stop is called, which says what went
// wrong meanwhile. Env is what tells a command where.
func (a *app) serving(ctx context.Context, session *replay.Session, flags *sessionFlags, options ...serve.Option) (env []string, stop func() error, err error) {
	listener, err := serve.Listen(ctx, "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	served := make(chan error, 1)
	server := serve.New(session, options...)
	go func() { served <- server.Serve(ctx, listener) }()
	stopServer := func() error {
		cancel()
		return <-served
	}
	env = a.environment(serve.URL(listener))
	// What runs live runs in the command, and has to reach the world.
	if flags.noProxy || session.Report().Policy.Live != nil {
		return append(a.withoutProxy(), env...), stopServer, nil
	}
	proxied, stopProxy, err := a.proxying(ctx, server)
	if err != nil {
		return nil, nil, errors.Join(err, stopServer())
	}
	return append(env, proxied...), func() error { return errors.Join(stopProxy(), stopServer()) }, nil
}

// noKey stands where SDKs insist on a key. It opens nothing anywhere, and keeps the
// real one of the user out of the command.
const noKey = "tape-replay"

// environment is what leads a command, and the SDKs in it, to the server. The paths
// tell the providers apart. Variables that only some use, and by which others choose
// a provider, are set where they were set before.
func (a *app) environment(url string) []string {
	env := []string{
		"TAPE_URL=" + url,
		"OPENAI_BASE_URL=" + url + "/openai/v1", "OPENAI_API_BASE=" + url + "/openai/v1", "OPENAI_API_KEY=" + noKey,
		"ANTHROPIC_BASE_URL=" + url + "/anthropic", "ANTHROPIC_API_KEY=" + noKey,
		"GOOGLE_GEMINI_BASE_URL=" + url + "/gemini", "GEMINI_API_KEY=" + noKey,
	}
	for name, instead := range map[string]string{
		"GOOGLE_API_KEY": noKey, "ANTHROPIC_AUTH_TOKEN": noKey, "AZURE_OPENAI_API_KEY": noKey, "AZURE_OPENAI_ENDPOINT": url,
	} {
		if a.Env(name) != "" {
			env = append(env, name+"="+instead)
		}
	}
	return env
}

// withoutProxy is the environment that keeps the way to the server free of the
// proxy of the command, if it has one: many clients ask it for loopback addresses
// too, and it cannot reach them.
func (a *app) withoutProxy() (env []string) {
	any := ""
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"} {
		any += a.Env(name)
	}
	if any == "" {
		return nil
	}
	upper, lower := a.Env("NO_PROXY"), a.Env("no_proxy")
	// A client that reads both goes by one of them, so neither may hide the other.
	for _, v := range []struct{ name, hosts string }{{"NO_PROXY", cmp.Or(upper, lower)}, {"no_proxy", cmp.Or(lower, upper)}} {
		if v.hosts != "" {
			v.hosts += ","
		}
		env = append(env, v.name+"="+v.hosts+"127.0.0.1")
	}
	return env
}
