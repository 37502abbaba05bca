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
// that shares the blob.
func (s *Store) PutBlob(ctx context.Context, class string, at time.Time, sha string, data []byte) error {
	if err := CheckClass(class); err != nil {
		return err
	}
	if err := checkBlob(sha, data); err != nil {
		return err
	}
	packed, err := s.codec.encode(data)
	if err != nil {
		return fmt.Errorf("blob %s: %w", sha, err)
	}
	name := blobName(class, blobWeek(at), sha)
	if err := s.backend.Put(ctx, name, packed); err != nil {
		return fmt.Errorf("write blob %s: %w", name, err)
	}
	return nil
}

// Blob reads a body by the hash of its plain bytes, from whatever class and
// week still holds it, the newest week first. A damaged copy is passed over for
// a good one. The error is ErrNotFound, ErrBadName, or ErrDamaged when only
// damaged copies are left.
func (s *Store) Blob(ctx context.Context, sha string) ([]byte, error) {
	if err := checkHash(sha); err != nil {
		return nil, err
	}
	classes, err := s.backend.Folders(ctx, blobsFolder)
	if err != nil {
		return nil, fmt.Errorf("list classes: %w", err)
	}
	var damaged error
	for _, class := range classes {
		weeks, err := s.backend.Folders(ctx, blobsFolder+class+"/")
		if err != nil {
			return nil, fmt.Errorf("list weeks: %w", err)
		}
		for _, week := range slices.Backward(weeks) {
			name := blobName(class, week, sha)
			data, err := s.read(ctx, name)
			if err == nil {
				err = checkBlob(sha, data)
			}
			switch {
			case err == nil:
				return data, nil
			case errors.Is(err, ErrNotFound):
			case errors.Is(err, ErrDamaged), errors.Is(err, ErrTooLarge):
				s.damaged(name, err)
				damaged = err
			default:
				return nil, err
			}
		}
	}
	if damaged != nil {
		return nil, damaged
	}
	return nil, fmt.Errorf("blob %s: %w", sha, ErrNotFound)
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
