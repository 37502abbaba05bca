package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"
)

// PutBlob stores a body under its hash, in its class and in the ISO week of
// at, which is when the run it belongs to was decided. A body must be stored
// before the fragment that names it. sha is the lower-case hex sha256 of data;
// that it is right is checked, because a wrong name would poison every tape
// that shares the blob. A body that this process has stored in the same class and
// week is not sent again for half an hour.
func (s *Store) PutBlob(ctx context.Context, class string, at time.Time, sha string, data []byte) error {
	if err := CheckClass(class); err != nil {
		return err
	}
	if err := checkBlob(sha, data); err != nil {
		return err
	}
	name := blobName(class, blobWeek(at), sha)
	if s.known.has(name) {
		return nil
	}
	packed, err := s.codec.encode(data)
	if err != nil {
		return fmt.Errorf("blob %s: %w", sha, err)
	}
	begun := s.now()
	if err := s.backend.Put(ctx, name, packed); err != nil {
		return fmt.Errorf("write blob %s: %w", name, err)
	}
	s.known.add(name, begun)
	return nil
}

// Place is where a body should be: it was stored in that class, at that time.
type Place struct {
	Class string
	At    time.Time
}

// Blob reads a body by the hash of its plain bytes, from whatever class and
// week still holds it, the newest week first. The places, if any, are looked at
// first: where one is right the blob costs one Get and nothing is listed. A damaged
// copy is passed over for a good one. The error is ErrNotFound, ErrBadName, or
// ErrDamaged when only damaged copies are left.
func (s *Store) Blob(ctx context.Context, sha string, places ...Place) ([]byte, error) {
	if err := checkHash(sha); err != nil {
		return nil, err
	}
	search := &blobSearch{store: s, sha: sha}
	for _, p := range places {
		if CheckClass(p.Class) != nil {
			continue
		}
		if data, err := search.try(ctx, p.Class, blobWeek(p.At)); data != nil || err != nil {
			return data, err
		}
	}
	classes, err := s.backend.Folders(ctx, blobsFolder)
	if err != nil {
		return nil, fmt.Errorf("list classes: %w", err)
	}
	for _, class := range classes {
		weeks, err := s.backend.Folders(ctx, blobsFolder+class+"/")
		if err != nil {
			return nil, fmt.Errorf("list weeks: %w", err)
		}
		for _, week := range slices.Backward(weeks) {
			if data, err := search.try(ctx, class, week); data != nil || err != nil {
				return data, err
			}
		}
	}
	if search.damaged != nil {
		return nil, search.damaged
	}
	return nil, fmt.Errorf("blob %s: %w", sha, ErrNotFound)
}

// blobSearch looks for a blob in one place after the other.
type blobSearch struct {
	store   *Store
	sha     string
	tried   []string
	damaged error
}

// try gives the blob if it is there, and whole. The error ends the search.
func (b *blobSearch) try(ctx context.Context, class, week string) ([]byte, error) {
	name := blobName(class, week, b.sha)
	if slices.Contains(b.tried, name) {
		return nil, nil
	}
	b.tried = append(b.tried, name)
	data, err := b.store.read(ctx, name)
	if err == nil {
		err = checkBlob(b.sha, data)
	}
	switch {
	case err == nil && data == nil:
		return []byte{}, nil
	case err == nil:
		return data, nil
	case errors.Is(err, ErrNotFound):
		b.store.known.forget(name)
		return nil, nil
	case errors.Is(err, ErrDamaged), errors.Is(err, ErrTooLarge):
		b.store.known.forget(name)
		b.store.damaged(name, err)
		b.damaged = err
		return nil, nil
	default:
		return nil, err
	}
}

func checkBlob(sha string, data []byte) error {
	if err := checkHash(sha); err != nil {
		return err
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != sha {
		return fmt.Errorf("blob %s: its bytes have another hash: %w", sha, ErrDamaged)
	}
	return nil
}
