package tape

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWriteCoreAlways(t *testing.T) {
	line, err := (&Record{}).AppendJSON(nil)
	require.NoError(t, err)
	assert.Equal(t, `{"seq":0,"tool":"","key":"","args":null,"result":null,"ms":0,"side_effect":null,"clock":null}`, string(line))
}

func TestWriteKeepsARecordOnOneLine(t *testing.T) {
	line, err := (&Record{
		Tool:   "a\n\"b\"\x7f<\xff",
		Args:   []byte("{\r\n\t\"a\": \"<b>  \"\n}"),
		Result: []byte(`{ "kept" : "as it is" }`),
		MS:     0.1,
	}).AppendJSON(nil)
	require.NoError(t, err)
	assert.Equal(t, `{"seq":0,"tool":"a\n\"b\"`+"\x7f"+`<�","key":"","args":{"a":"<b>  "},"result":{ "kept" : "as it is" },"ms":0.1,"side_effect":null,"clock":null}`, string(line))
}

func TestWriteEncodedIsTheSameLine(t *testing.T) {
	r := &Record{
		Args: []byte(`{"a":"b\n"}`), Extra: []Member{{Name: "x", Value: []byte("[1,\n2]")}},
		ArgsValidated: []byte("{\n}"), Result: []byte(`[1]`),
	}
	var checked, encoded bytes.Buffer
	require.NoError(t, NewWriter(&checked).Write(r))
	require.NoError(t, NewWriter(&encoded, Encoded()).Write(r))
	assert.Equal(t, checked.String(), encoded.String())

	r = &Record{ArgsValidated: []byte("{")}
	require.ErrorContains(t, NewWriter(&encoded, Encoded()).Write(r), "args_validated", "what no encoder vouches for is looked at")
}

func TestWriteBodies(t *testing.T) {
	for want, bodies := range map[string][]Body{
		`"body":{"sha256":"a","bytes":1}`:             {{SHA256: "a", Bytes: 1}},
		`"body":{"sha256":"a","bytes":1,"of":"args"}`: {{SHA256: "a", Bytes: 1, Of: "args"}},
		`"body":[{"sha256":"a","bytes":1,"of":"args"},{"sha256":"b","bytes":2,"of":"result"}]`: {
			{SHA256: "a", Bytes: 1, Of: "args"}, {SHA256: "b", Bytes: 2},
		},
	} {
		line, err := (&Record{Bodies: bodies}).AppendJSON(nil)
		require.NoError(t, err)
		assert.Contains(t, string(line), want)
	}
}

func TestWriteRefuses(t *testing.T) {
	for want, r := range map[string]*Record{
		`record 3: member "args": invalid JSON at byte 1: expected a member name`: {Seq: 3, Args: []byte("{]")},
		`record 3: member "result": invalid JSON at byte 1: unexpected end`:       {Seq: 3, Result: []byte(" ")},
		`record 3: member "ms": not a finite number`:                              {Seq: 3, MS: math.NaN()},
		`record 3: member "x": invalid JSON at byte 2: text after the value`:      {Seq: 3, Extra: []Member{{Name: "x", Value: []byte("1 2")}}},
	} {
		var out bytes.Buffer
		err := NewWriter(&out).Write(r)
		require.EqualError(t, err, want)
		assert.Empty(t, out.String(), "nothing half-written")
	}
	w := NewWriter(io.Discard)
	require.ErrorContains(t, w.WriteManifest(&Manifest{Resource: []byte("{")}), "manifest: ")
	require.NoError(t, w.Write(&Record{}))
	require.ErrorContains(t, w.WriteManifest(&Manifest{}), "first line")
}

type failing struct{ after int }

func (f *failing) Write(b []byte) (int, error) {
	if f.after--; f.after < 0 {
		return 0, errors.New("disk full")
	}
	return len(b), nil
}

func TestWriteTapeStopsAtAnError(t *testing.T) {
	tape := &Tape{Manifest: &Manifest{}, Records: make([]Record, 3)}
	for after := range 4 {
		require.ErrorContains(t, NewWriter(&failing{after: after}).WriteTape(tape), "disk full")
	}
	require.NoError(t, NewWriter(&failing{after: 4}).WriteTape(tape))
}

func TestWriteFileIsWholeOrNotThere(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.jsonl")
	tape, err := ReadFile("testdata/full.jsonl")
	require.NoError(t, err)
	require.NoError(t, WriteFile(path, tape))
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	back, err := ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, tape, back)

	err = WriteFile(path, &Tape{Records: []Record{{}, {Args: []byte("{")}}})
	require.ErrorContains(t, err, path)
	back, err = ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, tape, back, "the old file is untouched")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 1, "nothing left beside it")

	require.ErrorIs(t, WriteFile(filepath.Join(dir, "no", "x.jsonl"), tape), os.ErrNotExist)
}

func TestWriteFileKeepsALink(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real.jsonl"), filepath.Join(dir, "link.jsonl")
	require.NoError(t, os.WriteFile(real, []byte("old"), 0o600))
	if err := os.Symlink("real.jsonl", link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	require.NoError(t, WriteFile(link, &Tape{Records: []Record{{Seq: 1, Tool: "t"}}}))
	info, err := os.Lstat(link)
	require.NoError(t, err)
	assert.NotZero(t, info.Mode()&os.ModeSymlink)
	written, err := ReadFile(real)
	require.NoError(t, err)
	assert.Len(t, written.Records, 1)
	assert.False(t, written.Empty())
}

func TestWriteFileNamesTheFileThatWasAskedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "run.jsonl")
	err := WriteFile(path, &Tape{})
	require.ErrorIs(t, err, os.ErrNotExist)
	assert.True(t, strings.HasPrefix(err.Error(), path+": "), "%v", err)
}
