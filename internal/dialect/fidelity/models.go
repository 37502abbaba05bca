package fidelity

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tapedeck/tapedeck/tape"
)

func (s *Score) models(want Want, recs []located) {
	count, withContent, answer := 0, 0, ""
	spans := map[string]bool{}
	var names []string
	for _, r := range recs {
		if r.KindOf() != tape.KindModel {
			continue
		}
		count++
		names = append(names, r.Model)
		if len(messagesOf(r.Args)) > 0 && r.Fidelity != tape.FidelityAbsent {
			withContent++
		}
		answer = string(r.Result)
		key := append(slices.Clone(r.SpanIDs), r.StepID)
		if len(r.SpanIDs) > 0 {
			key = slices.Clone(r.SpanIDs)
		}
		slices.Sort(key)
		spans[strings.Join(key, " ")] = true
	}
	if want.Content {
		s.content(recs)
	}
	s.check("models", count == want.ModelCalls, "%d model calls, not %d", count, want.ModelCalls)
	for _, m := range want.Models {
		ok := slices.Contains(names, m) || slices.ContainsFunc(names, func(n string) bool { return n != "" && strings.HasPrefix(n, m) })
		s.check("models", ok, "model %q is missing among %q", m, names)
	}
	if want.Content {
		s.check("messages", withContent == count, "%d of %d model calls have their messages", withContent, count)
	} else if want.HasIdentity {
		s.check("messages", withContent == 0, "%d model calls have messages, of which the recording says nothing", withContent)
	}
	if want.Final != "" && count > 0 {
		// The program may have joined the texts of all its answers.
		text := textOf(answer)
		s.check("messages", text != "" && strings.HasSuffix(want.Final, text), "the last answer is %s", answer)
	}
	for _, ids := range want.ModelSpans {
		key := slices.Clone(ids)
		slices.Sort(key)
		s.check("spans", spans[strings.Join(key, " ")], "model call of spans %v is missing", ids)
	}
}

// content counts the model calls of which the request and the answer are known.
func (s *Score) content(recs []located) {
	for _, r := range recs {
		if r.KindOf() == tape.KindModel {
			s.check("requests", len(messagesOf(r.Args)) > 0, "the request of model call %d is missing", r.Seq)
			s.check("answers", len(answersOf(r.Result)) > 0 || r.Failed(), "the answer of model call %d is missing", r.Seq)
		}
	}
}

// answersOf are the messages of a model call's answer.
func answersOf(result []byte) []json.RawMessage {
	var answer struct {
		Message  json.RawMessage   `json:"message"`
		Messages []json.RawMessage `json:"messages"`
	}
	if json.Unmarshal(result, &answer) != nil {
		return nil
	}
	if answer.Message != nil {
		return []json.RawMessage{answer.Message}
	}
	return answer.Messages
}

// textOf is the text of a model call's answer.
func textOf(result string) string {
	type message struct {
		Parts []struct {
			Type    string `json:"type"`
			Content string `json:"content"`
		} `json:"parts"`
	}
	var answer struct {
		Message  message   `json:"message"`
		Messages []message `json:"messages"`
	}
	if json.Unmarshal([]byte(result), &answer) != nil {
		return ""
	}
	var b strings.Builder
	for _, m := range append(answer.Messages, answer.Message) {
		for _, p := range m.Parts {
			if p.Type == "text" {
				b.WriteString(p.Content)
			}
		}
	}
	return b.String()
}

// messagesOf are the messages of a model call's request.
func messagesOf(args []byte) []json.RawMessage {
	var request struct {
		Messages []json.RawMessage `json:"messages"`
	}
	if json.Unmarshal(args, &request) != nil {
		return nil
	}
	return request.Messages
}
