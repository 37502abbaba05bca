// Package bundle packs a tape with what it takes to run it: for a bug report, a CI
// job, another machine.
//
//	<trace_id>/README.md       what this is, and the one command that runs it
//	<trace_id>/bundle.json     the list of files with their hashes, and the manifest
//	<trace_id>/tape.jsonl      the tape, as `tape run` plays it
//	<trace_id>/bodies/<sha256> the bodies that the tape names by reference, if any
//	<trace_id>/tape.py, tape.mjs, tape.d.mts
//	                           the clients, which replay it with Python or Node alone
//
// The same tape makes the same bytes, of the same version. Names and contents of a tape come from an
// agent and are data: no name of a file is made of them, and the README shows none
// but those of its own.
//
// It holds the text of one tape in memory.
package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tapedeck/tapedeck/clients"
	"github.com/tapedeck/tapedeck/tape"
)

// Version is that of the layout.
const Version = "1"

// MediaType is that of a packed bundle.
const MediaType = "application/gzip"

// plainName is the folder of a tape that names no run.
const plainName = "tape"

// File is one file of a bundle.
type File struct {
	// Name is relative to the folder, with slashes.
	Name string
	Data []byte
}

// Bundle is a bundle ready to be written.
type Bundle struct {
	// Name is that of the folder: the trace id, or "tape".
	Name  string
	Files []File
	// when is the time that all files carry.
	when time.Time
}

// Content is what a bundle is made of.
type Content struct {
	// Manifest is nil for a bare tape.
	Manifest *tape.Manifest
	Records  iter.Seq[tape.Record]
	// Body gives the bytes of a body that a record names by reference; nil is for
	// tapes that have all of them inside. An error leaves the body out.
	Body func(sha256 string) ([]byte, error)
}

// fileEntry is a line of the list in bundle.json.
type fileEntry struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	Bytes  int    `json:"bytes"`
}

// index is bundle.json.
type index struct {
	Bundle  string `json:"bundle"`
	TraceID string `json:"trace_id,omitempty"`
	Records int    `json:"records"`
	// Command is what runs the bundle, in its folder, as it is.
	Command []string    `json:"command"`
	Files   []fileEntry `json:"files"`
	// MissingBodies are named by the tape and not in the bundle.
	MissingBodies []string       `json:"missing_bodies,omitempty"`
	Manifest      *tape.Manifest `json:"manifest,omitempty"`
	// bodies is set where the bundle has some.
	bodies bool
}

// New makes a bundle. The error is that of a tape that cannot be written, or of an
// empty one.
func New(c Content) (*Bundle, error) {
	b := &Bundle{Name: plainName, when: time.Unix(0, 0)}
	ix := index{Bundle: Version, Manifest: c.Manifest, Command: []string{"python3", "tape.py", "tape.jsonl"}}
	if m := c.Manifest; m != nil {
		if isTraceID(m.TraceID) {
			b.Name, ix.TraceID = m.TraceID, m.TraceID
		}
		for _, text := range []string{m.Ended, m.Started} {
			if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
				b.when = at
				break
			}
		}
	}
	var text bytes.Buffer
	var hashes []string
	err := tape.NewWriter(&text).WriteAll(c.Manifest, func(yield func(tape.Record) bool) {
		for r := range c.Records {
			ix.Records++
			for _, body := range r.Bodies {
				hashes = append(hashes, body.SHA256)
			}
			if !yield(r) {
				return
			}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("bundle: %w", err)
	}
	if text.Len() == 0 {
		return nil, fmt.Errorf("bundle: %w", tape.ErrEmpty)
	}
	files := []File{{"tape.jsonl", text.Bytes()}}
	slices.Sort(hashes)
	for _, hash := range slices.Compact(hashes) {
		data, ok := body(c.Body, hash)
		if !ok {
			ix.MissingBodies = append(ix.MissingBodies, hash)
			continue
		}
		files = append(files, File{"bodies/" + hash, data})
		ix.bodies = true
	}
	files = append(files,
		File{"tape.py", []byte(clients.Python)}, File{"tape.mjs", []byte(clients.JavaScript)},
		File{"tape.d.mts", []byte(clients.TypeScript)})
	for _, f := range files {
		sum := sha256.Sum256(f.Data)
		ix.Files = append(ix.Files, fileEntry{f.Name, hex.EncodeToString(sum[:]), len(f.Data)})
	}
	list, err := json.MarshalIndent(ix, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("bundle: %w", err)
	}
	b.Files = append([]File{{"README.md", readme(&ix)}, {"bundle.json", append(list, '\n')}}, files...)
	return b, nil
}

// body gives a body that is what its hash says. The hash becomes the name of a file,
// so that it must be one.
func body(get func(string) ([]byte, error), hash string) ([]byte, bool) {
	if get == nil || !isHex(hash, 64) {
		return nil, false
	}
	data, err := get(hash)
	if err != nil {
		return nil, false
	}
	sum := sha256.Sum256(data)
	return data, hex.EncodeToString(sum[:]) == hash
}

// WriteTar writes the bundle as a tar archive, packed with gzip.
func (b *Bundle) WriteTar(w io.Writer) error {
	packer := gzip.NewWriter(w)
	archive := tar.NewWriter(packer)
	for _, f := range b.Files {
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: b.Name + "/" + f.Name, Mode: 0o600,
			Size: int64(len(f.Data)), ModTime: b.when.UTC().Truncate(time.Second),
		}
		if err := archive.WriteHeader(header); err != nil {
			return fmt.Errorf("bundle: %s: %w", f.Name, err)
		}
		if _, err := archive.Write(f.Data); err != nil {
			return fmt.Errorf("bundle: %s: %w", f.Name, err)
		}
	}
	if err := errors.Join(archive.Close(), packer.Close()); err != nil {
		return fmt.Errorf("bundle: %w", err)
	}
	return nil
}

// WriteDir writes the bundle as a directory, readable by its owner only. The
// directory may be there, as long as it is empty.
func (b *Bundle) WriteDir(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return fmt.Errorf("bundle: %w", err)
	}
	if left, err := os.ReadDir(path); err != nil {
		return fmt.Errorf("bundle: %w", err)
	} else if len(left) > 0 {
		return fmt.Errorf("bundle: %s is not empty", path)
	}
	for _, f := range b.Files {
		name := filepath.Join(path, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return fmt.Errorf("bundle: %w", err)
		}
		if err := os.WriteFile(name, f.Data, 0o600); err != nil {
			return fmt.Errorf("bundle: %w", err)
		}
	}
	return nil
}

func isTraceID(s string) bool { return isHex(s, 32) }

func isHex(s string, length int) bool {
	return len(s) == length && strings.Trim(s, "0123456789abcdef") == ""
}
