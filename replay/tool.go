package replay

import (
	"context"
	"encoding/json"
	"fmt"
)

// Tool makes a tool function ask a session: what it is called with are the
// arguments of the call, and it really runs only where the session lets it. Both
// pass through JSON, also when it runs, so that a replay gives what the recording
// gave; and it runs with the arguments that the session substitutes, if it does.
// The session is s, or that of the context (see [WithSession]) where s is nil;
// without either the function runs as it is.
func Tool[In, Out any](s *Session, name string, tool func(context.Context, In) (Out, error), options ...CallOption) func(context.Context, In) (Out, error) {
	return func(ctx context.Context, in In) (Out, error) {
		session := s
		if session == nil {
			if session = SessionOf(ctx); session == nil {
				return tool(ctx, in)
			}
		}
		run := func(r *Request) {
			r.Run = func(ctx context.Context, args json.RawMessage) (any, error) {
				var as In
				if err := json.Unmarshal(args, &as); err != nil {
					return nil, fmt.Errorf("replay: arguments of %s: %w", name, err)
				}
				out, err := tool(ctx, as)
				return resultOf(out, err)
			}
		}
		return Do[Out](ctx, session, name, in, nil, append(options[:len(options):len(options)], run)...)
	}
}

type sessionKey struct{}

// WithSession returns a context that carries a session, for code that cannot be
// given one.
func WithSession(ctx context.Context, s *Session) context.Context {
	return context.WithValue(ctx, sessionKey{}, s)
}

// SessionOf is the session of a context, nil if it carries none.
func SessionOf(ctx context.Context) *Session {
	s, _ := ctx.Value(sessionKey{}).(*Session)
	return s
}
