package spool

import (
	"errors"
	"hash/crc32"
	"io"
)

const (
	// scanWindow is how much of a file is read at once; it holds the largest
	// header with its extra, and the largest entry.
	scanWindow = 1 << 20
	// scanPage is how much is given up where the disk cannot read.
	scanPage = 4 << 10
)

// scanner reads a file from the beginning, in large blocks.
type scanner struct {
	f    file
	size int64
	// window is what was read last, from offset from.
	window []byte
	from   int64
	buf    []byte
}

// use points the scanner at another file.
func (c *scanner) use(f file, size int64) {
	if n := min(scanWindow, size); int64(len(c.buf)) < n {
		c.buf = make([]byte, n)
	}
	c.f, c.size, c.window, c.from = f, size, nil, 0
}

// bytes are those at an offset, n of at most scanWindow or what is left of the
// file. They are valid until the next call.
func (c *scanner) bytes(off, n int64) []byte {
	n = min(n, c.size-off)
	if n <= 0 {
		return nil
	}
	if off < c.from || off+n > c.from+int64(len(c.window)) {
		c.fill(off)
	}
	at := off - c.from
	return c.window[at:min(at+n, int64(len(c.window)))]
}

// fill reads the window. Pages that cannot be read become zeros, which are no
// record of anything.
func (c *scanner) fill(off int64) {
	c.from = off
	c.window = c.buf[:min(int64(len(c.buf)), c.size-off)]
	if n, err := c.f.ReadAt(c.window, off); err == nil || errors.Is(err, io.EOF) {
		c.window = c.window[:n]
		return
	}
	for at := 0; at < len(c.window); at += scanPage {
		page := c.window[at:min(at+scanPage, len(c.window))]
		if n, err := c.f.ReadAt(page, off+int64(at)); err != nil {
			clear(page[n:])
		}
	}
}

// sum is the checksum of a stretch of any length that lies in the file.
func (c *scanner) sum(off, n int64) uint32 {
	var sum uint32
	for n > 0 {
		b := c.bytes(off, min(n, max(c.from+int64(len(c.window))-off, 1)))
		if len(b) == 0 {
			break
		}
		sum = crc32.Update(sum, castagnoli, b)
		off += int64(len(b))
		n -= int64(len(b))
	}
	return sum
}

// record reads the record at off, without its payload. It answers whether the
// header is intact, and whether all is.
func (c *scanner) record(h *header, off int64, salt uint32) (known, intact bool) {
	if !h.parse(c.bytes(off, headerSize), salt) {
		return false, false
	}
	if off+headerSize+h.body > c.size || c.sum(off+headerSize, h.body) != h.sum {
		return true, false
	}
	h.Extra = c.bytes(off+headerSize, h.extra)
	return true, true
}

// scanRecords hands every record to fn whose header is intact, and whether its
// body is, and counts damaged stretches.
func (c *scanner) scanRecords(salt uint32, fn func(h *header, off int64, intact bool)) (d Damage) {
	var h header
	bad := int64(-1)
	off := int64(dataStart)
	for off < c.size {
		known, intact := c.record(&h, off, salt)
		if intact {
			d.close(&bad, off)
			fn(&h, off, true)
			off += h.size()
			continue
		}
		// Each record that is known to be lost is a stretch of its own.
		step := int64(recordAlign)
		if known {
			d.close(&bad, off)
			fn(&h, off, false)
			if c.ends(off+h.size(), salt) {
				step = h.size()
			}
		}
		if bad < 0 {
			bad = off
		}
		off += step
	}
	d.close(&bad, c.size)
	return d
}

// ends tells whether a record can well end here: at the end of the file, or
// where the next begins. If so, its length is believed though its body is not.
func (c *scanner) ends(off int64, salt uint32) bool {
	var h header
	return off == c.size || off < c.size && h.parse(c.bytes(off, headerSize), salt)
}
