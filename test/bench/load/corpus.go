package load

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"unicode/utf8"
)

//go:embed corpus/*/text.txt.gz
var corpusFiles embed.FS

// corpus is all text there is, about 1 MB.
var corpus = sync.OnceValue(func() string {
	var all strings.Builder
	for _, name := range []string{"agentevals", "langfuse", "packet-panic", "tau-bench"} {
		if err := unpack(&all, "corpus/"+name+"/text.txt.gz"); err != nil {
			// The files are part of the binary, so a fault in one is one of the build.
			panic(err)
		}
	}
	return all.String()
})

func unpack(to io.Writer, name string) error {
	packed, err := corpusFiles.ReadFile(name)
	if err != nil {
		return err
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if _, err := io.Copy(to, r); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// The sizes of tool results, in bytes: a log-normal distribution whose 95th
// percentile is 15 times its median.
const (
	medianResult = 600
	maxResult    = 110_000
)

var sigmaResult = math.Log(9_000.0/medianResult) / 1.6449

// draw is a source of random things of one run.
type draw struct {
	*rand.Rand
	quoted bytes.Buffer
}

func newDraw(seed uint64, run int) *draw {
	return &draw{Rand: rand.New(rand.NewPCG(seed, uint64(run)))}
}

// resultSize is the size of one tool result.
func (d *draw) resultSize() int {
	size := medianResult * math.Exp(sigmaResult*d.NormFloat64())
	return max(1, min(int(size), maxResult))
}

// text is a piece of the corpus of about n bytes, whole runes.
func (d *draw) text(n int) string {
	all := corpus()
	from := d.IntN(len(all) - n)
	for !utf8.RuneStart(all[from]) {
		from++
	}
	to := from + n
	for to > from && to < len(all) && !utf8.RuneStart(all[to]) {
		to--
	}
	return all[from:min(to, len(all))]
}

// quote appends a text as JSON does.
func (d *draw) quote(dst []byte, text string) []byte {
	d.quoted.Reset()
	enc := json.NewEncoder(&d.quoted)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		panic(err) // a string always has a JSON form
	}
	return append(dst, bytes.TrimSuffix(d.quoted.Bytes(), []byte("\n"))...)
}

// id fills an id. It is never all zero, which OTLP calls invalid.
func (d *draw) id(id []byte) {
	for i := range id {
		id[i] = byte(d.Uint32())
	}
	id[0] |= 1
}
