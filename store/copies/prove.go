package copies

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"time"

	"filippo.io/age"

	"reeve/store/audit"
	"reeve/store/blob"
	"reeve/store/errs"
)

// Examine restores an archive that one of the identities opens to a directory, which does not exist
// yet, and examines what was restored. It returns the number of records, and the newest entry of the
// change log.
type Examine func(ctx context.Context, archive, dir string, identities []age.Identity) (records int, head *audit.Head, err error)

// Prove reads the records of a copy back to a file in dir, which Examine restores beside it, and
// compares the result with the manifest. All contents of files must be there with the right size;
// sample of them are read. Only a copy that this process has made can be proven. The proof is stored
// beside the copy; that of a copy that is damaged now is deleted, where the target lets it.
func (r *Repository) Prove(ctx context.Context, s *Scan, c *Copy, dir string, sample int, examine Examine) (*Proof, error) {
	p, err := r.prove(ctx, s, c, dir, sample, examine)
	if now := *c; err == nil || isDamage(err) {
		now.Proof, now.Fault = p, err
		r.known[c.Name] = &now
		r.ship.mu.Lock() // others may be reading the list
		if i := slices.Index(s.Copies, c); i >= 0 {
			s.Copies[i] = &now
		}
		r.ship.mu.Unlock()
	}
	if isDamage(err) && c.Proof != nil && !r.options.NoDelete {
		r.target.Delete(ctx, c.Name+proofSuffix) // without it the copy is proven after the next start
	}
	return p, err
}

func (r *Repository) prove(ctx context.Context, s *Scan, c *Copy, dir string, sample int, examine Examine) (*Proof, error) {
	if !c.Own || c.Manifest == nil {
		return nil, errors.New("only the identity of a recipient opens this copy: `reeve backup check` proves it")
	}
	m, err := r.manifest(ctx, c.Name, r.server)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "copy.age")
	defer os.Remove(path)
	err = fetch(ctx, r.target, m, path, NewLimiter(0))
	if isDamage(err) { // on its way, perhaps
		err = fetch(ctx, r.target, m, path, NewLimiter(0))
	}
	if err != nil {
		return nil, err
	}
	records, head, err := examine(ctx, path, filepath.Join(dir, "data"), []age.Identity{r.memory})
	if err != nil {
		return nil, err
	}
	if m.Records > 0 && records != m.Records {
		return nil, fmt.Errorf("it has %s, not %d", errs.Count(records, "record"), m.Records)
	}
	if (head == nil) != (m.LogHead == nil) || head != nil && *head != *m.LogHead {
		return nil, fmt.Errorf("its change log ends with %v, not with %v", head, m.LogHead)
	}

	if err := r.proveErased(ctx, m); err != nil {
		return nil, err
	}
	if err := r.readAgain(ctx, s); err != nil {
		return nil, err
	}
	p := &Proof{Records: records, Files: len(m.Contents)}
	if p.Commits, err = r.proveCommits(ctx, s, m); err != nil {
		return nil, err
	}
	if err := r.proveOthers(ctx, s); err != nil {
		return nil, err
	}
	if p.Sampled, err = r.sample(ctx, s, m.Contents, sample); err != nil {
		return nil, err
	}
	p.Time = time.Now().UTC()
	w := &writer{Repository: r, progress: func(int64, int64) {}, limit: r.limit}
	if _, err := w.storeJSON(ctx, c.Name+proofSuffix, p); err != nil && !errors.Is(err, ErrExists) {
		return nil, err
	}
	return p, nil
}

// proveCommits reads the commits from the copy before to this one, which must lead to it, and returns
// their number. Those that are not stored yet are left to the next proof.
func (r *Repository) proveCommits(ctx context.Context, s *Scan, m *Manifest) (n int, err error) {
	i := slices.IndexFunc(s.Copies, func(c *Copy) bool {
		return c.Manifest != nil && c.Manifest.Stream != nil && m.Stream != nil && c.Time.Before(m.Time) && c.Manifest.Stream.Epoch == m.Stream.Epoch
	})
	if i < 0 {
		return 0, nil
	}
	between := &span{*s.Copies[i].Manifest.Stream, *m.Stream}
	parts, err := r.listParts(ctx) // they were replaced since the scan
	if err != nil {
		return 0, err
	}
	parts = between.of(parts)
	last, _ := reach(parts, between.from)
	if later := slices.IndexFunc(parts, func(p part) bool { return p.First > last+1 }); later >= 0 {
		return 0, fmt.Errorf("the commits from %d to %d between two copies are missing", last+1, parts[later].First-1)
	}
	if n, err = r.readSpan(ctx, between, parts); err != nil {
		return n, fmt.Errorf("the commits between two copies: %w", err)
	}
	return n, nil
}

// readAgain reads the indexes of a scan again, which may have known some of them.
func (r *Repository) readAgain(ctx context.Context, s *Scan) error {
	names := slices.Collect(maps.Keys(s.indexes))
	s.contents = map[blob.Digest]storedContent{}
	clear(r.indexes)
	return r.readIndexes(ctx, s, names)
}

// LostError is the error of a proof for a content of a file that is missing at the target, or damaged. The
// next copy stores it again.
type LostError struct{ error }

// sample checks that contents are stored, and reads so many of them.
func (r *Repository) sample(ctx context.Context, s *Scan, contents []blob.Digest, most int) (n int, err error) {
	for _, d := range contents {
		if _, there := s.contents[d]; !there {
			return n, LostError{fmt.Errorf("the content of the file %s is missing or cut off", d)}
		}
	}
	for i := range min(most, len(contents)) {
		if most < len(contents) {
			at, err := rand.Int(rand.Reader, big.NewInt(int64(len(contents))))
			if err != nil {
				return n, err
			}
			i = int(at.Int64())
		}
		c := s.contents[contents[i]]
		sound, err := r.isSound(ctx, c)
		if err != nil {
			return n, err
		}
		if !sound {
			r.damaged[c.Stored.Object] = true
			return n, LostError{fmt.Errorf("the content of the file %s, in %s, is damaged", c.SHA256, c.Stored.Object)}
		}
		n++
	}
	return n, nil
}
