package redact

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strings"
)

// minKey is the least length of a key for surrogates. Who can guess the key can
// try out what a surrogate stands for.
const minKey = 16

// ErrKeyNeeded marks a policy with keyed surrogates that was to be rebuilt
// without its key: what it redacts could not be redacted alike.
var ErrKeyNeeded = errors.New("the policy makes keyed surrogates, and their key was not given")

// ErrKeyWrong marks a policy that was to be rebuilt with another key than it was
// made with.
var ErrKeyWrong = errors.New("the key given is not the key of the policy's surrogates")

// surrogateSet is what a manifest says about surrogates. The key is not in it.
type surrogateSet struct {
	// Check tells the right key from others.
	Check string `json:"check"`
}

const keyCheckText = "tapedeck: check of the key for surrogates"

func newSurrogateSet(key []byte) *surrogateSet {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(keyCheckText))
	return &surrogateSet{Check: hex.EncodeToString(mac.Sum(nil)[:8])}
}

// draw is an endless row of numbers that follows from a key and a secret. Who
// has not got the key can neither predict it nor go back to the secret.
type draw struct {
	key    []byte
	secret string
	block  uint32
	left   []byte
}

// below is the next number from 0 up to n-1.
func (d *draw) below(n int) int {
	if len(d.left) < 4 {
		mac := hmac.New(sha256.New, d.key)
		var head [4]byte
		binary.BigEndian.PutUint32(head[:], d.block)
		mac.Write(head[:])
		mac.Write([]byte(d.secret))
		d.left = mac.Sum(nil)
		d.block++
	}
	v := binary.BigEndian.Uint32(d.left)
	d.left = d.left[4:]
	return int(uint64(v) * uint64(n) >> 32)
}

// text is n characters of an alphabet.
func (d *draw) text(alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[d.below(len(alphabet))]
	}
	return string(b)
}

// surrogate is what takes the place of a secret: of the same form, the same for
// the same secret wherever it stands, and such that no rule finds anything in
// it; see [IsSurrogate]. White space around a secret is none of it, as in keys.
func (p *Policy) surrogate(secret string) string {
	secret = strings.TrimSpace(secret)
	d := &draw{key: p.key, secret: secret}
	switch sign := wholeEmail(secret); {
	case sign != "":
		return emailSurrogate + d.text(hexDigits, surrogateHex) + sign + surrogateDomain
	case isIBAN(secret):
		return ibanSurrogate(secret, d)
	case isWholeCard(secret):
		return cardSurrogate(secret, d)
	case isWholePhone(secret):
		return phoneSurrogate + d.text(decimals, phoneDigits)
	}
	if s := p.keySurrogate(secret, d); s != "" {
		return s
	}
	return wordSurrogate + d.text(hexDigits, surrogateHex)
}
