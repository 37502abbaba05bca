package redact

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// prose and code are what agents move most: model text, and files they read.
const prose = `The agent looked at the failing build, read the log of the last run and found that the test "adds two numbers" had been
skipped since March. It then opened the configuration: the job ran on one worker, with a limit of 30 minutes, and retried twice. `

const code = `func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
	defer cancel()
	if err := s.store.Put(ctx, r.URL.Path, r.Body); err != nil { // maps[key] = value
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
}
`

func fill(unit string, n int) string { return strings.Repeat(unit, n/len(unit)+1)[:n] }

// withHits has one hit in each KiB.
func withHits(unit string, n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		b.WriteString(fill(unit, 1000))
		if i%2 == 0 {
			b.WriteString(" mail bob@example.com ")
		} else {
			b.WriteString(" key AKIA" + "IOSFODNN7EXAMPLE ")
		}
	}
	return b.String()
}

func messages(unit string) string {
	type m struct {
		Role    string `json:"role"`
		Content string `json:"content"`
		ID      string `json:"id"`
	}
	var list []m
	for i := range 64 {
		list = append(list, m{"user", unit + unit, fmt.Sprintf("call_%d", i)})
	}
	raw, _ := json.Marshal(list)
	return string(raw)
}

func BenchmarkText(b *testing.B) {
	const n = 64 << 10
	// Made once, and not while the first of them is timed.
	Default()
	for _, c := range []struct{ name, text string }{
		{"prose/clean", fill(prose, n)},
		{"code/clean", fill(code, n)},
		{"prose/hit-per-KiB", withHits(prose, n)},
		{"code/hit-per-KiB", withHits(code, n)},
		{"messages/clean", messages(prose)},
		{"messages-code/clean", messages(code)},
		{"messages/hit-per-KiB", messages(withHits(prose, 1024))},
		{"signatures/clean", messages(base64.StdEncoding.EncodeToString(randomBytes(rand.New(rand.NewPCG(1, 2)), 3000)))},
		{"short/clean", "get_weather Zürich"},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				Default().Text(c.text)
			}
		})
	}
}

func BenchmarkSurrogates(b *testing.B) {
	p := keyed(b)
	text := withHits(prose, 64<<10)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		p.Text(text)
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		if _, err := New(Config{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkKeySecret(b *testing.B) {
	names := []string{"gen_ai.usage.input_tokens", "password", "content", "tool_call_id", "db.password", "role"}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		Default().KeySecret(names[i%len(names)])
	}
}
