package api

import (
	"context"
	"io"
	"net/http"
	"strconv"

	"github.com/tapedeck/tapedeck/internal/lru"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/rebuild"
	"github.com/tapedeck/tapedeck/tape"
)

// answers keeps tapes as they were sent, for those who ask again: whoever looks into a
// failure pulls its tape several times, and to rebuild it is most of what that costs.
//
// Before one is sent again the store is asked whether it was made of what is there
// now. Tapes that hang on more than that can be asked about are not kept; see
// [rebuild.Source].
type answers struct {
	cache *lru.Cache[answerKey, *answer]
	// most is the largest that is kept, in bytes.
	most int
}

type answerKey struct {
	tenant, id string
	byRef      bool
}

// answer is a tape with its manifest, which is the first so many bytes of it.
type answer struct {
	source   rebuild.Source
	body     []byte
	manifest int
	complete bool
	gaps     int
}

// answerShare is the part of the cache that one tape may take.
const answerShare = 4

// newAnswers makes the cache, nil for no bytes.
func newAnswers(maxBytes int) *answers {
	if maxBytes <= 0 {
		return nil
	}
	// What else is kept of an answer is little beside the body.
	size := func(a *answer) int { return cap(a.body) + 512 }
	return &answers{lru.New[answerKey](maxBytes, size), maxBytes / answerShare}
}

// get gives an answer that is still right, nil when there is none. The error is that
// of a store that cannot be asked.
func (c *answers) get(ctx context.Context, st *store.Store, key answerKey) (*answer, error) {
	if c == nil {
		return nil, nil
	}
	a, ok := c.cache.Get(key)
	if !ok {
		return nil, nil
	}
	current, err := a.source.Current(ctx, st, key.id)
	if err != nil {
		return nil, err
	}
	if !current {
		c.cache.Remove(key)
		return nil, nil
	}
	return a, nil
}

// forget lets go of a run that was deleted.
func (c *answers) forget(tenant, id string) {
	if c != nil {
		c.cache.Remove(answerKey{tenant, id, false})
		c.cache.Remove(answerKey{tenant, id, true})
	}
}

// send writes a kept answer.
func (a *answer) send(w http.ResponseWriter, bare bool) error {
	body := a.body
	if bare {
		body = body[a.manifest:]
	}
	tellGaps(w, a.complete, a.gaps)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, err := w.Write(body)
	return err
}

// make writes a tape that was rebuilt, and keeps it where it can be asked whether it
// is still right.
func (c *answers) make(w http.ResponseWriter, key answerKey, made *rebuild.Made, bare bool) error {
	m := made.Manifest
	tellGaps(w, m.Complete, len(m.Gaps))
	if bare {
		return tape.NewWriter(w, tape.Encoded()).WriteAll(nil, made.Records)
	}
	if c == nil || !made.Source.Whole {
		return tape.NewWriter(w, tape.Encoded()).WriteAll(m, made.Records)
	}
	copied := copying{to: w, most: c.most}
	writer := tape.NewWriter(&copied, tape.Encoded())
	if err := writer.WriteManifest(m); err != nil {
		return err
	}
	manifest := len(copied.body)
	if err := writer.WriteAll(nil, made.Records); err != nil {
		return err
	}
	if !copied.over {
		c.cache.Put(key, &answer{made.Source, copied.body, manifest, m.Complete, len(m.Gaps)})
	}
	return nil
}

// copying remembers what goes through it, unless it is more than the most.
type copying struct {
	to   io.Writer
	body []byte
	most int
	over bool
}

func (c *copying) Write(p []byte) (int, error) {
	if !c.over {
		if c.over = len(c.body)+len(p) > c.most; c.over {
			c.body = nil
		} else {
			c.body = append(c.body, p...)
		}
	}
	return c.to.Write(p)
}
