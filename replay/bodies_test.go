package replay

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/tapedeck/tapedeck/tape"
)

// bodyMap is a source of bodies in memory, by their hash.
type bodyMap map[string]string

func bodySourceOf(texts ...string) bodyMap {
	m := bodyMap{}
	for _, text := range texts {
		m[hashOf(text)] = text
	}
	return m
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// ref is the reference to a body as a record has it.
func (m bodyMap) ref(text, of string) string {
	return fmt.Sprintf(`{"sha256":%q,"bytes":%d,"media_type":"application/json","of":%q}`, hashOf(text), len(text), of)
}

func (m bodyMap) Body(_ context.Context, b tape.Body) ([]byte, error) {
	text, ok := m[b.SHA256]
	if !ok {
		return nil, fmt.Errorf("no body %s", b.SHA256)
	}
	return []byte(text), nil
}
