package spool

import (
	"encoding/binary"
	"hash/crc32"
)

const (
	headerSize  = 64
	recordAlign = 16
	// maxLSN leaves a damaged counter room to be told from a real one.
	maxLSN = 1 << 62
)

// state is what the magic of a record says: the only bytes of a file that are
// ever written over, as that needs no room on a disk that is full.
type state uint32

var (
	// live records count.
	live = magic("tRec")
	// void ones do not, because the same record is live in another place.
	void = magic("tVoi")
	// dead ones were freed when the marks file could not take note of it.
	dead = magic("tDed")
)

func magic(s string) state { return state(binary.LittleEndian.Uint32([]byte(s))) }

// put writes a state over that of the record at off.
func (st state) put(f file, off int64) error {
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], uint32(st))
	_, err := f.WriteAt(b[:], off)
	return err
}

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	padding    [recordAlign]byte
)

func alignUp(n, to int64) int64 { return (n + to - 1) / to * to }

// recordSize is what a record with such a body takes in a file.
func recordSize(body int64) int64 { return alignUp(headerSize+body, recordAlign) }

// appendRecord encodes a record but for what is only known where it is
// written: LSN and checksum of the header, which sealHeader fills in.
func appendRecord(buf []byte, r *Record) []byte {
	body := len(r.Extra) + len(r.Payload)
	sum := crc32.Update(crc32.Update(0, castagnoli, r.Extra), castagnoli, r.Payload)
	var h [headerSize]byte
	binary.LittleEndian.PutUint32(h[:], uint32(live))
	binary.LittleEndian.PutUint32(h[8:], uint32(body))
	binary.LittleEndian.PutUint32(h[12:], sum)
	copy(h[24:], r.ID[:])
	binary.LittleEndian.PutUint64(h[40:], uint64(r.Arrived))
	binary.LittleEndian.PutUint32(h[48:], r.Spans)
	binary.LittleEndian.PutUint32(h[52:], r.Logs)
	binary.LittleEndian.PutUint32(h[56:], uint32(len(r.Extra)))
	binary.LittleEndian.PutUint16(h[60:], r.Flags)
	h[62] = r.Kind
	buf = append(buf, h[:]...)
	buf = append(buf, r.Extra...)
	buf = append(buf, r.Payload...)
	return append(buf, padding[:recordSize(int64(body))-int64(headerSize+body)]...)
}

func sealHeader(h []byte, lsn uint64, salt uint32) {
	binary.LittleEndian.PutUint64(h[16:], lsn)
	binary.LittleEndian.PutUint32(h[4:], crc32.Update(salt, castagnoli, h[8:headerSize]))
}

// header is a record without its body.
type header struct {
	Record
	state       state
	body, extra int64
	sum         uint32
}

// parse reads a header; it answers false unless it is intact.
func (h *header) parse(b []byte, salt uint32) bool {
	if len(b) < headerSize {
		return false
	}
	h.state = state(binary.LittleEndian.Uint32(b))
	if h.state != live && h.state != void && h.state != dead ||
		binary.LittleEndian.Uint32(b[4:]) != crc32.Update(salt, castagnoli, b[8:headerSize]) {
		return false
	}
	h.body = int64(binary.LittleEndian.Uint32(b[8:]))
	h.sum = binary.LittleEndian.Uint32(b[12:])
	h.LSN = binary.LittleEndian.Uint64(b[16:])
	copy(h.ID[:], b[24:])
	h.Arrived = int64(binary.LittleEndian.Uint64(b[40:]))
	h.Spans = binary.LittleEndian.Uint32(b[48:])
	h.Logs = binary.LittleEndian.Uint32(b[52:])
	h.extra = int64(binary.LittleEndian.Uint32(b[56:]))
	h.Flags = binary.LittleEndian.Uint16(b[60:])
	h.Kind = b[62]
	h.Extra, h.Payload = nil, nil
	return h.extra <= h.body && h.extra <= MaxExtra && h.LSN < maxLSN
}

func (h *header) size() int64 { return recordSize(h.body) }

// load reads a whole live record out of b, which begins with its header. It
// answers whether the header is intact, and whether all is.
func (h *header) load(b []byte, salt uint32) (known, intact bool) {
	if !h.parse(b, salt) || h.state != live {
		return false, false
	}
	if int64(len(b)) < headerSize+h.body {
		return true, false
	}
	body := b[headerSize : headerSize+h.body]
	if crc32.Checksum(body, castagnoli) != h.sum {
		return true, false
	}
	h.Extra, h.Payload = body[:h.extra:h.extra], body[h.extra:]
	return true, true
}
