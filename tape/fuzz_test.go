package tape

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"testing"
)

func FuzzCanonical(f *testing.F) {
	eachLine(f, "key_vectors.jsonl", func(v keyVector) { f.Add([]byte(v.ArgsJSON)) })
	for _, seed := range []string{
		`{"b":{"d":1,"c":[{"z":1,"y":null}]},"b":2,"a":null}`, `"\ud800\u0085"`, "\"\xff\"", `[1e400,-0.00001,123456.7890125,1e-400]`,
		`{"\"":1,"\\":2,"\u001f":3}`, `[[[[`, `{"a":{"a":`, `NaN`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		canonical, err := Canonical(text)
		if skipErr := valid(text); len(text) > 0 && (err == nil) != (skipErr == nil) {
			t.Fatalf("canonicalising says %v, skipping %v", err, skipErr)
		}
		if len(text) > 0 && (err == nil) != json.Valid(text) {
			t.Fatalf("%v, but encoding/json says %v", err, json.Valid(text))
		}
		if err != nil {
			return
		}
		// Nothing grows more than 1e15 does, from 4 bytes to 18.
		if len(canonical) > 5*len(text)+4 {
			t.Fatalf("%d bytes became %d", len(text), len(canonical))
		}
		again, err := Canonical(canonical)
		if err != nil || !bytes.Equal(again, canonical) {
			t.Fatalf("%q: canonical %q, again %q, %v", text, canonical, again, err)
		}
	})
}

func FuzzReader(f *testing.F) {
	full, err := os.ReadFile("testdata/full.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(full)
	f.Add(full[:len(full)/2])
	f.Add([]byte("\ufeff{\"tape\":\"1\"}\r\n\n{\"seq\":1.0,\"error\":\"x\",\"body\":[]}"))
	f.Add([]byte(`{"tape":"2"}`))
	f.Add([]byte(`{"error":{"code":5},"body":[{"of":"args"},{}],"redacted":null,"x":1,"x":2}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		tape, err := ReadAll(bytes.NewReader(text))
		if err != nil {
			var at *SyntaxError
			if !errors.As(err, &at) || at.Line < 1 {
				t.Fatalf("an error without a line: %v", err)
			}
			return
		}
		Verify(tape)
		var first, second bytes.Buffer
		if err := NewWriter(&first).WriteTape(tape); err != nil {
			t.Fatalf("cannot write what was read: %v", err)
		}
		again, err := ReadAll(bytes.NewReader(first.Bytes()))
		if err != nil {
			t.Fatalf("cannot read what was written: %v\n%s", err, first.Bytes())
		}
		if err := NewWriter(&second).WriteTape(again); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Fatalf("not stable:\n%s\n%s", first.Bytes(), second.Bytes())
		}
	})
}

func TestPlainRun(t *testing.T) {
	for b := range 256 {
		for at := range 17 {
			text := bytes.Repeat([]byte{'~'}, 17)
			text[at] = byte(b)
			want := len(text)
			if !plain[byte(b)] {
				want = at
			}
			if got := plainRun(text); got != want {
				t.Fatalf("byte %#x at %d: run of %d", b, at, got)
			}
		}
	}
}
