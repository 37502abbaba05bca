package bundle

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// Packed is what a replay needs of a bundle that was read from its archive.
type Packed struct {
	// Tape is the text of the tape.
	Tape []byte
	// Bodies are the bytes of each body, by the name of its file: the hash that they
	// should have. Nobody has checked that they have it.
	Bodies map[string][]byte
}

// maxUnpacked bounds what is held of an archive.
const maxUnpacked = 1 << 30

// ErrNoBundle is an archive without a tape.
var ErrNoBundle = errors.New("the archive has no tape.jsonl in its folder, as a bundle has")

// Read reads a bundle that [Bundle.WriteTar] wrote, from a tar archive packed with gzip.
// Nothing is written; other files than the tape and its bodies are passed over. An
// archive with over 1 GiB of them is refused.
func Read(r io.Reader) (*Packed, error) {
	unpacked, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("bundle: %w", err)
	}
	p := &Packed{Bodies: map[string][]byte{}}
	// What is passed over takes time, if no memory.
	archive := tar.NewReader(&io.LimitedReader{R: unpacked, N: 2 * maxUnpacked})
	left := int64(maxUnpacked)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("bundle: %w", err)
		}
		name, hash, ok := part(header)
		if !ok {
			continue
		}
		if left -= header.Size; left < 0 {
			return nil, fmt.Errorf("bundle: over %d bytes", maxUnpacked)
		}
		data, err := io.ReadAll(archive)
		if err != nil {
			return nil, fmt.Errorf("bundle: %s: %w", name, err)
		}
		if hash == "" {
			p.Tape = data
		} else {
			p.Bodies[hash] = data
		}
	}
	if p.Tape == nil {
		return nil, fmt.Errorf("bundle: %w", ErrNoBundle)
	}
	return p, nil
}

// part tells the files of a bundle that a replay needs: the tape, or the body of a hash.
func part(header *tar.Header) (name, hash string, ok bool) {
	if header.Typeflag != tar.TypeReg {
		return "", "", false
	}
	_, name, inFolder := strings.Cut(path.Clean(header.Name), "/")
	if !inFolder {
		return "", "", false
	}
	if name == "tape.jsonl" {
		return name, "", true
	}
	hash, ok = strings.CutPrefix(name, "bodies/")
	return name, hash, ok && isHex(hash, 64)
}
