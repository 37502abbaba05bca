package replay

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/tapedeck/tapedeck/tape"
)

// BodySource fetches what a tape holds by reference.
type BodySource interface {
	// Body returns the plain bytes of a body, all of them. It must be safe for
	// concurrent use.
	Body(ctx context.Context, body tape.Body) ([]byte, error)
}

var errNoBodies = errors.New("held by reference, and the session has no source of bodies")

// BodyFunc is a function that is a [BodySource].
type BodyFunc func(ctx context.Context, body tape.Body) ([]byte, error)

// Body calls the function.
func (f BodyFunc) Body(ctx context.Context, body tape.Body) ([]byte, error) { return f(ctx, body) }

func gapsBySeq(m *tape.Manifest) map[int][]tape.Gap {
	if m == nil || len(m.Gaps) == 0 {
		return nil
	}
	gaps := map[int][]tape.Gap{}
	for _, gap := range m.Gaps {
		if gap.Seq != 0 {
			gaps[gap.Seq] = append(gaps[gap.Seq], gap)
		}
	}
	return gaps
}

// missing says which content of a record was never captured, by what the
// manifest lists of it, else by its fidelity.
func missing(r *tape.Record, listed []tape.Gap, bodies BodySource) (args, result *tape.Gap) {
	for i := range listed {
		switch listed[i].What {
		case "args":
			args = &listed[i]
		case "result":
			result = &listed[i]
		}
	}
	switch {
	case len(listed) > 0:
	case r.Fidelity == tape.FidelityAbsent:
		if len(r.Args) == 0 && argsBody(r) == nil {
			args = &tape.Gap{What: "args", Why: "never captured"}
		}
		if len(r.Result) == 0 && resultBody(r) == nil && !r.Failed() {
			result = &tape.Gap{What: "result", Why: "never captured"}
		}
	case r.Fidelity == tape.FidelityTruncated:
		result = &tape.Gap{What: "result", Why: "cut before it was recorded"}
		args = &tape.Gap{What: "args", Why: "cut before they were recorded"}
	}
	if result == nil && bodies == nil && resultBody(r) != nil {
		result = &tape.Gap{What: "result", Why: errNoBodies.Error()}
	}
	return args, result
}

func argsBody(r *tape.Record) *tape.Body   { return bodyOf(r, true) }
func resultBody(r *tape.Record) *tape.Body { return bodyOf(r, false) }

func bodyOf(r *tape.Record, args bool) *tape.Body {
	for i := range r.Bodies {
		if r.Bodies[i].IsArgs() == args {
			return &r.Bodies[i]
		}
	}
	return nil
}

// fetch loads a body and checks that it is the one that was recorded. What is
// not JSON by its media type comes as a JSON string.
func fetch(ctx context.Context, source BodySource, body *tape.Body) (json.RawMessage, error) {
	data, err := source.Body(ctx, *body)
	if err != nil {
		return nil, err
	}
	if err := body.Check(data); err != nil {
		return nil, err
	}
	if strings.Contains(body.MediaType, "json") && json.Valid(data) {
		return data, nil
	}
	return encode(string(data))
}
