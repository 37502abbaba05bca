package replay

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/tape"
)

func TestGaps(t *testing.T) {
	expired := `"expires":"2020-01-01T00:00:00Z"`
	body := `{"sha256":"2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881","bytes":1,"media_type":"text/plain"}`
	bodies := func(data string, err error) Option {
		return WithBodies(BodyFunc(func(context.Context, tape.Body) ([]byte, error) { return []byte(data), err }))
	}
	listed := `{"tape":"1","gaps":[{"what":"root"},{"seq":1,"what":"result","why":"content capture is off","fix":"CAPTURE=1"}]}`
	for name, c := range map[string]struct {
		lines   []string
		options []Option
		want    string
	}{
		"result listed by the manifest": {[]string{listed, `{"seq":1,"tool":"t","args":"x"}`}, nil, "gap at step 1: t: result: content capture is off; fix: CAPTURE=1"},
		"result never captured":         {[]string{`{"seq":1,"tool":"t","fidelity":"absent"}`}, nil, "gap at step 1: t: args: never captured"},
		"result of known arguments":     {[]string{`{"seq":1,"tool":"t","args":"x","fidelity":"absent"}`}, nil, "gap at step 1: t: result: never captured"},
		"cut":                           {[]string{`{"seq":1,"tool":"t","args":"x","result":"y","fidelity":"truncated"}`}, nil, "gap at step 1: t: result: cut before it was recorded"},
		"arguments listed":              {[]string{`{"tape":"1","gaps":[{"seq":1,"what":"args"}]}`, `{"seq":1,"tool":"t","args":"y","result":1}`}, nil, "gap at step 1: t: args: not captured"},
		"no key of what was not seen":   {[]string{`{"tape":"1","gaps":[{"seq":1,"what":"args"}]}`, `{"seq":1,"tool":"t","key":"t:2d711642b726","result":1}`}, nil, "gap at step 1: t: args: not captured"},
		"by reference":                  {[]string{`{"seq":1,"tool":"t","args":"x","body":` + body + `}`}, nil, "held by reference, and the session has no source of bodies"},
		"body is lost":                  {[]string{`{"seq":1,"tool":"t","args":"x","body":` + body + `}`}, []Option{bodies("", errors.New("no such blob"))}, "gap at step 1: t: result: no such blob"},
		"body is another":               {[]string{`{"seq":1,"tool":"t","args":"x","body":` + body + `}`}, []Option{bodies("y", nil)}, "is damaged"},
		"expired":                       {[]string{`{"seq":1,"tool":"t","args":"x","result":1,` + expired + `}`}, []Option{WithExpiredAsGap()}, "gap at step 1: t: result: expired at 2020-01-01T00:00:00Z"},
	} {
		for _, mode := range []Mode{ModeStrict, ModeReplayRecord} {
			t.Run(name+" "+mode.String(), func(t *testing.T) {
				s := start(t, parse(t, c.lines...), append(c.options, WithMode(mode), WithCompletion(CompletionRecorded, time.Minute))...)
				_, err := s.Call(ctx, "t", "x", never(t))
				require.ErrorIs(t, err, ErrGap)
				var gap *GapError
				require.ErrorAs(t, err, &gap)
				assert.Contains(t, err.Error(), c.want)
				assert.Equal(t, 1, s.Stats().Gaps)
				assert.Zero(t, s.Stats().TapeHits+s.Stats().Unconsumed+s.Stats().LiveToolCalls)
				require.ErrorIs(t, s.Close(), ErrGap)
			})
		}
	}
}

func TestServesWhatIsNoGap(t *testing.T) {
	sum := "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881" // of "x"
	number := "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"
	bodies := WithBodies(BodyFunc(func(_ context.Context, b tape.Body) ([]byte, error) {
		return []byte(map[string]string{sum: "x", number: "1"}[b.SHA256]), nil
	}))
	deck := parse(t,
		`{"tape":"1","gaps":[{"seq":3,"what":"args"}]}`,
		`{"seq":1,"tool":"text","body":{"sha256":"`+sum+`","bytes":1,"media_type":"text/plain"}}`,
		`{"seq":2,"tool":"json","body":{"sha256":"`+number+`","bytes":1,"media_type":"application/json"}}`,
		`{"seq":3,"tool":"cut","args":"y","result":5,"fidelity":"truncated"}`,
		`{"seq":4,"tool":"failed","error":"x","fidelity":"absent","args":1}`,
		`{"seq":5,"tool":"old","result":6,"expires":"2020-01-01T00:00:00Z"}`,
		`{"seq":6,"tool":"hidden","result":"[REDACTED:secret]","redacted":["result"]}`,
		`{"seq":7,"tool":"args","key":"args:2d711642b726","result":7,"body":{"sha256":"`+sum+`","bytes":1,"of":"args"}}`,
	)
	s := start(t, deck, bodies)
	for _, c := range []struct{ tool, args, want string }{
		{"text", "", `"x"`}, {"json", "", "1"}, {"cut", `"y"`, "5"}, {"old", "", "6"}, {"hidden", "", `"[REDACTED:secret]"`},
	} {
		got, err := s.Call(ctx, c.tool, raw(c.args), never(t))
		require.NoError(t, err, c.tool)
		assert.Equal(t, c.want, string(got))
	}
	_, err := s.Call(ctx, "failed", 1, nil)
	require.ErrorIs(t, err, ErrRecorded)
	_, err = s.Call(ctx, "args", 3, nil)
	var drift *DriftError
	require.ErrorAs(t, err, &drift)
	assert.JSONEq(t, `"x"`, string(drift.RecordedArgs), "they were fetched")
	assert.Len(t, drift.Differences, 1)
	assert.Equal(t, 1, s.Stats().RedactedServed)
	assert.Equal(t, 1, s.Stats().ExpiredServed)
}
