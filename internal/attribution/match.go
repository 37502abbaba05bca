package attribution

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tapedeck/tapedeck/tape"
)

// rule is a Rule made ready.
type rule struct {
	Rule
	pattern *regexp.Regexp
}

// compileRules makes rules ready that are known to be valid.
func compileRules(list []Rule) []rule {
	out := make([]rule, len(list))
	for i, r := range list {
		out[i].Rule = r
		out[i].Phrases = make([]string, len(r.Phrases))
		for j, p := range r.Phrases {
			out[i].Phrases[j] = strings.ToLower(p)
		}
		if r.Pattern != "" {
			out[i].pattern = regexp.MustCompile(r.Pattern)
		}
	}
	return out
}

// byRules applies the table to an error.
func (a *Attributor) byRules(tool string, e *tape.Error) (found []Finding) {
	message := strings.ToLower(e.Message)
	for i := range a.rules {
		if evidence, fits := a.rules[i].fits(tool, e, message); fits {
			found = append(found, Finding{a.rules[i].Class, evidence})
		}
	}
	return found
}

// fits judges an error; lower is its message in lower case.
func (r *rule) fits(tool string, e *tape.Error, lower string) (evidence string, fits bool) {
	of := ""
	if len(r.Tools) > 0 {
		glob := matchGlob(r.Tools, tool)
		if tool == "" || glob == "" {
			return "", false
		}
		of = fmt.Sprintf("tool %s is one of %q", tool, glob)
		if len(r.Codes)+len(r.Phrases) == 0 && r.pattern == nil {
			return of, true
		}
		of = " and " + of
	}
	if code := matchCode(r.Codes, e); code != "" {
		return code + of, true
	}
	for _, p := range r.Phrases {
		if containsPhrase(lower, p) {
			return fmt.Sprintf("message says %q", p) + of, true
		}
	}
	if r.pattern != nil {
		if text := r.pattern.FindString(e.Message); text != "" {
			return fmt.Sprintf("message matches %q", r.Pattern) + of, true
		}
	}
	return "", false
}

func matchCode(codes []string, e *tape.Error) string {
	for _, c := range codes {
		if strings.EqualFold(c, e.Code) {
			return "error code " + e.Code
		}
		if typ := className(e.Type); typ != "" && strings.EqualFold(c, typ) {
			return "error type " + e.Type
		}
	}
	return ""
}

// className is the last part of a dotted or slashed type name, without a
// pointer: "builtins.TimeoutError" and "*net.TimeoutError" are both TimeoutError.
func className(typ string) string {
	return typ[strings.LastIndexAny(typ, ".*/:")+1:]
}

func containsPhrase(text, phrase string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], phrase)
		if i < 0 {
			return false
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(phrase):])
		if !wordRune(before) && !wordRune(after) {
			return true
		}
		from = i + 1
	}
}

func wordRune(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }
