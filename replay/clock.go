package replay

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/tapedeck/tapedeck/tape"
)

// The names under which clock reads and random draws are recorded.
const (
	clockTool  = "now"
	randomTool = "bytes"
)

// Now reads the clock: the recorded reading in a replay, in recorded order, the
// real one where the session records.
func (s *Session) Now(ctx context.Context) (time.Time, error) {
	return Do(ctx, s, clockTool, nil, func(context.Context) (time.Time, error) {
		return s.cfg.now().UTC(), nil
	}, WithKind(tape.KindClock), WithSideEffect(false))
}

// Random draws n random bytes: those that were recorded in a replay, real ones
// where the session records. They stand on the tape in base64, so this is no
// source of secrets.
func (s *Session) Random(ctx context.Context, n int) ([]byte, error) {
	if n < 0 {
		return nil, fmt.Errorf("replay: %d random bytes", n)
	}
	args := map[string]int{"bytes": n}
	return Do(ctx, s, randomTool, args, func(context.Context) ([]byte, error) {
		drawn := make([]byte, n)
		_, err := rand.Read(drawn)
		return drawn, err
	}, WithKind(tape.KindRandom), WithSideEffect(false))
}
