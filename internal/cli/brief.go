package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tapedeck/tapedeck/tape"
)

// briefArgs is the request of a record on one line. Of a model call it is the
// last message, which is what is new.
func briefArgs(r *tape.Record) string {
	if b := bodyOf(r, true); b != "" {
		return b
	}
	if r.KindOf() == tape.KindModel {
		var req struct {
			Messages []message `json:"messages"`
		}
		if json.Unmarshal(r.Args, &req) == nil && len(req.Messages) > 0 {
			last := req.Messages[len(req.Messages)-1]
			return last.brief(true)
		}
	}
	if r.ArgsRaw != "" && isNull(r.Args) {
		return oneLine(r.ArgsRaw)
	}
	return compact(r.Args)
}

// briefResult is the answer of a record on one line: the failure, if it failed.
func briefResult(r *tape.Record) string {
	if r.Error != nil {
		return briefError(r)
	}
	if b := bodyOf(r, false); b != "" {
		return b
	}
	if r.KindOf() == tape.KindModel {
		var res struct {
			Message  *message  `json:"message"`
			Messages []message `json:"messages"`
		}
		if json.Unmarshal(r.Result, &res) == nil {
			if res.Message != nil {
				res.Messages = append(res.Messages, *res.Message)
			}
			if len(res.Messages) > 0 {
				return res.Messages[len(res.Messages)-1].brief(false)
			}
		}
	}
	return compact(r.Result)
}

// briefError says how a record failed.
func briefError(r *tape.Record) string {
	var parts []string
	for _, p := range []string{r.FailureClass, r.Error.Type, r.Error.Code, r.Error.Message} {
		if p != "" && (len(parts) == 0 || parts[len(parts)-1] != p) {
			parts = append(parts, oneLine(p))
		}
	}
	if len(parts) == 0 {
		return "failed"
	}
	return strings.Join(parts, ": ")
}

// bodyOf says what stands in place of content held outside the tape.
func bodyOf(r *tape.Record, args bool) string {
	for i := range r.Bodies {
		if b := &r.Bodies[i]; b.IsArgs() == args {
			return strings.TrimSpace(fmt.Sprintf("%s %s by reference, sha256:%s", bytesText(b.Bytes), b.MediaType, clip(b.SHA256, 13)))
		}
	}
	return ""
}

// message is as much of a model message as a brief needs.
type message struct {
	Role  string `json:"role"`
	Parts []struct {
		Type      string          `json:"type"`
		Content   any             `json:"content"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Result    json.RawMessage `json:"result"`
	} `json:"parts"`
}

// brief is a message on one line, without the reasoning when there is more.
func (m message) brief(role bool) string {
	var words []string
	for _, p := range m.Parts {
		switch p.Type {
		case "text":
			words = append(words, oneLine(fmt.Sprint(p.Content)))
		case "tool_call":
			words = append(words, p.Name+"("+compact(p.Arguments)+")")
		case "tool_call_response":
			words = append(words, strings.TrimSpace(p.Name+" → "+compact(p.Result)))
		case "reasoning":
		default:
			words = append(words, "["+p.Type+"]")
		}
	}
	text := strings.Join(words, " ")
	if role && m.Role != "" {
		return m.Role + ": " + text
	}
	return text
}

// compact is JSON on one line, as it stands where it is on one already.
func compact(raw json.RawMessage) string {
	if isNull(raw) {
		return ""
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return oneLine(string(raw))
	}
	return b.String()
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// oneLine folds white space.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// bytesText is a size for people.
func bytesText(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}
