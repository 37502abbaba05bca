package tape

import (
	"crypto/sha256"
	"encoding/hex"
)

// keyDigits is how many hexadecimal digits of the hash a key holds.
const keyDigits = 12

// hashPrefix names the hash in front of a full digest.
const hashPrefix = "sha256:"

var nullText = []byte("null")

// Key names a call: the tool, a colon and the first 12 hexadecimal digits of
// the SHA-256 of its canonical arguments. The arguments are the redacted ones,
// at record time and at replay time alike; empty arguments count as null. The
// error is that of [Canonical].
//
// Keys of 100 KB of arguments are made at 250 to 500 MB/s on one core without
// allocation but for the key: go test -run '^$' -bench Key ./tape
func Key(tool string, args []byte) (string, error) {
	key, _, err := KeyAndHash(tool, args)
	return key, err
}

// ArgsHash returns "sha256:" and the whole digest of the canonical arguments.
func ArgsHash(args []byte) (string, error) {
	_, hash, err := KeyAndHash("", args)
	return hash, err
}

// KeyAndHash returns [Key] and [ArgsHash] for the price of one.
func KeyAndHash(tool string, args []byte) (key, hash string, err error) {
	c := canonPool.Get().(*canon)
	defer c.release()
	text, err := c.run(args)
	if err != nil {
		return "", "", err
	}
	sum := sha256.Sum256(text)
	var digits [len(hashPrefix) + 2*sha256.Size]byte
	copy(digits[:], hashPrefix)
	hex.Encode(digits[len(hashPrefix):], sum[:])
	hash = string(digits[:])
	return tool + ":" + hash[len(hashPrefix):len(hashPrefix)+keyDigits], hash, nil
}

// KeyOf computes the key of a record from its tool and arguments; it is not
// the key the record says it has.
func KeyOf(r *Record) (string, error) { return Key(r.Tool, r.Args) }
