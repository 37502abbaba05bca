package spool

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"time"
)

// fileKind is what a file holds.
type fileKind uint32

const (
	kindRecords fileKind = iota
	kindCopies
	kindMarks
)

const (
	fileMagic   = "tapedeck"
	fileVersion = 1
	// dataStart is where the header and its second copy end.
	dataStart = 2 * headerSize

	segmentSuffix = ".segment"
	marksSuffix   = ".marks"
	damagedSuffix = ".damaged"
)

// fileHeader begins every file.
type fileHeader struct {
	kind   fileKind
	number uint64
	salt   uint32
}

// errNoHeader says that neither copy of a file's header is intact.
var errNoHeader = errors.New("spool: no intact header")

func fileName(kind fileKind, number uint64) string {
	suffix := damagedSuffix // of a kind that there is not
	switch kind {
	case kindRecords, kindCopies:
		suffix = segmentSuffix
	case kindMarks:
		suffix = marksSuffix
	}
	return fmt.Sprintf("%012d%s", number, suffix)
}

// newFile makes a file with its header.
func newFile(st storage, kind fileKind, number uint64) (file, fileHeader, error) {
	h := fileHeader{kind: kind, number: number, salt: rand.Uint32()}
	name := fileName(kind, number)
	f, err := st.create(name)
	if err != nil {
		return nil, h, fmt.Errorf("spool: %w", noRoom(err))
	}
	if _, err := f.WriteAt(h.encode(), 0); err != nil {
		return nil, h, fmt.Errorf("spool: %w", noRoom(errors.Join(err, f.Close(), st.remove(name))))
	}
	return f, h, nil
}

func (h fileHeader) encode() []byte {
	b := make([]byte, dataStart)
	copy(b, fileMagic)
	binary.LittleEndian.PutUint32(b[8:], fileVersion)
	binary.LittleEndian.PutUint32(b[12:], uint32(h.kind))
	binary.LittleEndian.PutUint64(b[16:], h.number)
	binary.LittleEndian.PutUint64(b[24:], uint64(time.Now().UnixNano()))
	binary.LittleEndian.PutUint32(b[32:], h.salt)
	binary.LittleEndian.PutUint32(b[60:], crc32.Checksum(b[:60], castagnoli))
	copy(b[headerSize:], b[:headerSize])
	return b
}

// readHeader reads the header of a file from whichever copy is intact.
func readHeader(f file, name string) (fileHeader, error) {
	var b [dataStart]byte
	n, err := f.ReadAt(b[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return fileHeader{}, fmt.Errorf("spool: %s: %w", name, err)
	}
	for at := 0; at+headerSize <= n; at += headerSize {
		c := b[at : at+headerSize]
		if string(c[:8]) != fileMagic || binary.LittleEndian.Uint32(c[60:]) != crc32.Checksum(c[:60], castagnoli) {
			continue
		}
		if v := binary.LittleEndian.Uint32(c[8:]); v != fileVersion {
			return fileHeader{}, fmt.Errorf("%w: %s has version %d", ErrVersion, name, v)
		}
		return fileHeader{
			kind:   fileKind(binary.LittleEndian.Uint32(c[12:])),
			number: binary.LittleEndian.Uint64(c[16:]),
			salt:   binary.LittleEndian.Uint32(c[32:]),
		}, nil
	}
	return fileHeader{}, fmt.Errorf("%w: %s", errNoHeader, name)
}
