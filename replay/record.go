package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/tape"
)

// recorderName is what manifests say wrote them.
const recorderName = "tapedeck replay"

// live runs a call and appends it to the tape.
func (s *Session) live(ctx context.Context, c *call, request *Request, hits []redact.Hit) (Answer, error) {
	r := &tape.Record{
		Tool: c.tool, Args: c.args, ToolCallID: request.ToolCallID, Redacted: redactedPaths("args", hits),
	}
	if c.kind != tape.KindTool {
		r.Kind = c.kind
	}
	// The arguments were keyed before, so they are canonical JSON text.
	r.Key, r.ArgsHash, _ = tape.KeyAndHash(c.tool, c.args)
	start := s.cfg.now()
	r.Start = start.UTC().Format(time.RFC3339Nano)
	r.Clock = r.Start
	slot, err := s.recorder.begin(r)
	if err != nil {
		return Answer{}, fmt.Errorf("replay: %s: %w", c.tool, err)
	}
	s.expire(r, start)
	if len(c.substituted) > 0 {
		paths, _ := json.Marshal(c.substituted)
		r.Extra = []tape.Member{{Name: "substituted", Value: paths}}
	}
	r.SideEffect = s.startLive(c, request, slot.seq)

	ctx, observed := s.observe(ctx, r)
	answer := Answer{Call: c.n, Live: true}
	// A live function that panics is recorded as failed, and the slot freed.
	answer.LiveErr = errPanicked
	defer func() {
		r.MS = float64(s.cfg.now().Sub(start)) / float64(time.Millisecond)
		s.fill(r, &answer)
		observed(r)
		s.recorder.end(slot)
		s.audit(ctx, r, len(c.substituted), answer.LiveErr)
	}()
	value, liveErr := request.run(ctx, c)
	answer.LiveErr = liveErr
	if answer.Result, err = encode(value); err == nil {
		err = validJSON(answer.Result)
	}
	if err != nil {
		answer.Result = nil
		answer.LiveErr = errors.Join(liveErr, fmt.Errorf("replay: result of %s is not JSON: %w", c.tool, err))
	}
	return answer, nil
}

var errPanicked = errors.New("the live function panicked")

func validJSON(text json.RawMessage) error {
	if len(text) == 0 || json.Valid(text) {
		return nil
	}
	_, err := tape.Canonical(text)
	return err
}

// startLive counts a live call and returns whether it has a side effect.
func (s *Session) startLive(c *call, request *Request, seq int) *bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cfg.mode == ModeReplayRecord {
		s.deck.noteLive(callKey{c.kind, c.key}, seq)
	}
	sideEffect := s.sideEffect(c, request)
	s.stats.LiveToolCalls++
	if sideEffect != nil && *sideEffect {
		s.stats.RealSideEffects++
	}
	return sideEffect
}

// sideEffect says whether a call has one, as the call or else the tape has it; nil
// if neither does. s.mu is held.
func (s *Session) sideEffect(c *call, request *Request) *bool {
	if request.SideEffect != nil {
		return request.SideEffect
	}
	if known, ok := s.deck.effects[c.tool]; ok {
		return &known
	}
	return nil
}

// run runs the call live.
func (r *Request) run(ctx context.Context, c *call) (any, error) {
	if r.Run == nil {
		return r.Live(ctx)
	}
	args := c.liveArgs
	if args == nil {
		args = orNull(r.Args)
	}
	return r.Run(ctx, args)
}

// fill completes a record with what came of the call, redacted.
func (s *Session) fill(r *tape.Record, answer *Answer) {
	r.Fidelity = tape.FidelityExact
	if len(answer.Result) > 0 && string(answer.Result) != "null" {
		result, hits := s.policy.JSON(answer.Result)
		r.Result = result
		r.Redacted = append(r.Redacted, redactedPaths("result", hits)...)
	}
	if answer.LiveErr != nil {
		message, hits := s.policy.Text(answer.LiveErr.Error())
		r.Error = &tape.Error{Message: message, Type: typeName(answer.LiveErr)}
		r.Redacted = append(r.Redacted, redactedPaths("error.message", hits)...)
		var recorded *RecordedError
		if errors.As(answer.LiveErr, &recorded) {
			message, _ := s.policy.Text(recorded.Message)
			r.Error = &tape.Error{Code: recorded.Code, Message: message, Type: recorded.Type}
		}
	}
	if len(r.Redacted) > 0 {
		r.Fidelity = tape.FidelityRedacted
	}
}

func typeName(err error) string {
	if errors.Is(err, errPanicked) {
		return "panic"
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", err), "*")
}

func redactedPaths(root string, hits []redact.Hit) (paths []string) {
	for _, hit := range hits {
		paths = append(paths, redact.JoinPath(root, hit.Path))
	}
	return paths
}

// audit logs a call that a replay ran live; recording is no replay.
func (s *Session) audit(ctx context.Context, r *tape.Record, substituted int, err error) {
	if s.cfg.mode == ModeRecord {
		return
	}
	effect := "unknown"
	if r.SideEffect != nil {
		effect = fmt.Sprint(*r.SideEffect)
	}
	s.cfg.audit.LogAttrs(ctx, slog.LevelInfo, "replay ran a call live",
		slog.String("tool", r.Tool), slog.String("key", r.Key), slog.String("side_effect", effect),
		slog.Float64("ms", r.MS), slog.Bool("failed", err != nil), slog.Int("substituted", substituted))
}

// recorder appends records in the order in which their calls began, as the
// format wants it: a call that ended waits in memory for those that began
// before it and still run.
type recorder struct {
	out      *tape.Writer
	file     *tapeFile
	manifest *tape.Manifest
	now      func() time.Time

	mu      sync.Mutex
	nextSeq int
	done    int
	// slots are the calls begun and not yet written, in order.
	slots  []*slot
	kept   []tape.Record
	failed int
	// lastFailed: the last call recorded failed.
	lastFailed bool
	closed     bool
	err        error
}

// slot is a call being recorded.
type slot struct {
	seq    int
	record *tape.Record
	ended  bool
}

func newRecorder(t *tape.Tape, policy *redact.Policy, c *config, file *tapeFile) (*recorder, error) {
	r := &recorder{file: file, now: c.now, nextSeq: 1, done: len(t.Records)}
	for i := range t.Records {
		r.nextSeq = max(r.nextSeq, t.Records[i].Seq+1, i+2)
	}
	open := []tape.Gap{{What: "end", Why: "the recording was not closed"}}
	switch {
	case c.live != nil:
		r.manifest = derivedManifest(t.Manifest, policy, c, open)
	case t.Manifest == nil && len(t.Records) == 0:
		r.manifest = &tape.Manifest{
			Tape: tape.Version, CodeVersion: c.codeVersion, Started: c.now().UTC().Format(time.RFC3339Nano),
			Gaps: open, Redaction: policy.Manifest(), Recorder: recorderName,
		}
	}
	if c.recordTo == nil {
		return r, nil
	}
	return r, r.writeTo(c.recordTo)
}

func (r *recorder) writeTo(out io.Writer) error {
	r.out = tape.NewWriter(out)
	if r.manifest == nil {
		return nil
	}
	return r.out.WriteManifest(r.manifest)
}

// begin gives a call its place.
func (r *recorder) begin(record *tape.Record) (*slot, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, ErrClosed
	}
	if r.err != nil {
		return nil, r.err
	}
	s := &slot{seq: r.nextSeq, record: record}
	record.Seq = s.seq
	r.nextSeq++
	r.slots = append(r.slots, s)
	return s, nil
}

// end writes a call, and those that waited for it.
func (r *recorder) end(s *slot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	s.ended = true
	r.done++
	s.record.Done = r.done
	for len(r.slots) > 0 && r.slots[0].ended {
		r.write(r.slots[0].record)
		r.slots[0] = nil
		r.slots = r.slots[1:]
	}
}

func (r *recorder) write(record *tape.Record) {
	r.lastFailed = record.Failed()
	if r.lastFailed {
		r.failed++
	}
	switch {
	case r.err != nil:
	case r.out == nil:
		r.kept = append(r.kept, *record)
	default:
		r.err = r.out.Write(record)
	}
}

// close writes what ended, leaves out what still runs, and completes the
// manifest of a file that this recorder began.
func (r *recorder) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	running := 0
	for _, s := range r.slots {
		if s.ended {
			r.write(s.record)
		} else {
			running++
		}
	}
	r.slots = nil
	if r.manifest != nil {
		r.finish(running)
	}
	err := r.err
	if r.file != nil {
		err = errors.Join(err, r.file.finish(r.manifest))
	}
	if err != nil {
		return fmt.Errorf("replay: recording: %w", err)
	}
	return nil
}

// finish completes the manifest.
func (r *recorder) finish(running int) {
	r.manifest.Ended = r.now().UTC().Format(time.RFC3339Nano)
	r.manifest.Gaps = nil
	if running > 0 {
		r.manifest.Gaps = []tape.Gap{{What: "end", Why: fmt.Sprintf("%d calls still ran when the recording was closed", running)}}
	}
	r.manifest.Complete = running == 0 && r.err == nil
	switch {
	case running > 0:
		r.manifest.Outcome = tape.OutcomeIncomplete
	case r.lastFailed:
		r.manifest.Outcome = tape.OutcomeFailed
	case r.failed > 0:
		r.manifest.Outcome = tape.OutcomeRecovered
	default:
		r.manifest.Outcome = tape.OutcomeSucceeded
	}
}

// appended returns what is in memory.
func (r *recorder) appended() (*tape.Manifest, []tape.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.manifest == nil {
		return nil, append([]tape.Record(nil), r.kept...)
	}
	manifest := *r.manifest
	return &manifest, append([]tape.Record(nil), r.kept...)
}
