package backup

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"time"

	"reeve/server/target"
	"reeve/store"
	"reeve/store/copies"
	"reeve/store/disk"
	"reeve/store/errs"
)

// Copy is a copy at a target.
type Copy struct {
	Target    string
	Name      string
	At        store.Time
	Size      int64 // encrypted records
	Files     int   // contents of files in the copy
	State     string
	ProvenAt  store.Time
	Records   int // number of records in a proven copy
	Fault     string
	Checkable bool // whether the process that makes the copies can prove it
}

// newest returns the newest of copies that was made since these data were restored; nil for none.
func newest(copies []Copy) *Copy {
	i := slices.IndexFunc(copies, func(c Copy) bool { return c.State != Previous })
	if i < 0 {
		return nil
	}
	return &copies[i]
}

// States of a copy.
const (
	Proven   = "proven"   // restored and examined
	Stored   = "stored"   // read back
	Sent     = "sent"     // taken by a command
	Foreign  = "foreign"  // of an earlier secret.key: only the identity opens it
	Previous = "previous" // from before these data were restored
	Damaged  = "damaged"
)

// remoteKeeper keeps copies in a directory or a bucket.
type remoteKeeper struct {
	b      *Service
	target target.Config

	r    *copies.Repository // repository, for the worker alone; nil until it was opened
	scan *copies.Scan       // list that a proof has read, for the worker alone; nil after the deletions

	mu         sync.Mutex
	overwrites bool               // whether the target replaces objects
	other      time.Time          // see copies.Scan
	listed     *copies.Repository // repository that was listed; nil before
	shipping   shipping
}

func (k *remoteKeeper) open(ctx context.Context) (*copies.Repository, error) {
	if k.r != nil {
		return k.r, nil
	}
	recipients, err := k.b.confirmed()
	if err != nil {
		return nil, err
	}
	to, err := k.target.Open()
	if err != nil {
		return nil, err
	}
	if k.target.Kind() == target.Directory {
		to = &placed{to, k.b, k.target.Path}
	}
	r, err := copies.Open(ctx, to, k.b.s.DB, copies.Options{
		Recipients: recipients,
		Bandwidth:  k.target.Bandwidth,
		Nodes:      k.b.s.Config.Cluster != nil,
		NoDelete:   k.target.NoDelete,
		Erased:     func() ([]byte, error) { return store.ErasedList(k.b.s.DB) },
	})
	if err != nil {
		return nil, err
	}
	k.r = r
	k.mu.Lock()
	defer k.mu.Unlock()
	k.overwrites = r.Overwrites
	return r, nil
}

func (k *remoteKeeper) list(ctx context.Context) ([]Copy, error) {
	r, err := k.open(ctx)
	if err != nil {
		return nil, err
	}
	s, err := r.Scan(ctx)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	k.other, k.listed = s.Other, r
	k.mu.Unlock()
	all := make([]Copy, len(s.Copies))
	for i, c := range s.Copies {
		all[i] = Copy{
			Target:    k.target.Name,
			Name:      c.Name,
			At:        timeOf(c.Time),
			Size:      c.Size,
			Files:     c.Files,
			State:     Stored,
			Checkable: c.Own && c.Manifest != nil,
		}
		switch {
		case c.Fault != nil:
			all[i].State, all[i].Fault = Damaged, c.Fault.Error()
		case c.Manifest == nil:
			all[i].State = Foreign
		case c.Previous:
			all[i].State = Previous
		case c.Proof != nil:
			all[i].State = Proven
		}
		if c.Proof != nil {
			all[i].ProvenAt, all[i].Records = timeOf(c.Proof.Time), c.Proof.Records
		}
	}
	return all, nil
}

func (k *remoteKeeper) add(ctx context.Context, progress func(done, total int64)) error {
	k.scan = nil // of an earlier check
	r, err := k.open(ctx)
	if err != nil {
		return err
	}
	return r.Copy(ctx, k.b.s.Config.Version, progress)
}

// Contents of files that a proof reads: a sample, or all of them.
const (
	sampleFiles = 20
	weekly      = 7 * 24 * time.Hour
)

func (k *remoteKeeper) prove(ctx context.Context) error {
	r, err := k.open(ctx)
	if err != nil {
		return err
	}
	s, err := r.Scan(ctx)
	if err != nil {
		return err
	}
	k.scan = s
	newest := slices.IndexFunc(s.Copies, func(c *copies.Copy) bool { return c.Own })
	if newest < 0 {
		return errors.New("there is no copy to prove")
	}
	c, sample := s.Copies[newest], sampleFiles
	if k.unsampled(s) {
		sample = c.Files
	}
	dir, err := proofDir(k.b, c.Size)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	_, err = r.Prove(ctx, s, c, dir, sample, k.b.examine)
	return err
}

// unsampled reports whether no proof of the last week has read the contents of all files.
func (k *remoteKeeper) unsampled(s *copies.Scan) bool {
	for _, c := range s.Copies {
		if !c.Previous && c.Proof != nil && c.Proof.Sampled >= c.Proof.Files && k.b.now().Sub(c.Proof.Time) < weekly {
			return false
		}
	}
	return true
}

// proofName is the directory in the data directory in which a copy is restored to prove it.
const proofName = "proof"

// proofFactor is how many times its size a copy needs: as it was read, and restored.
const proofFactor = 3

// proofDir returns a new directory, in which a copy of size bytes has room beside the reserve of the
// disk.
func proofDir(b *Service, size int64) (string, error) {
	parent := b.s.DB.Dir()
	if err := needSpace(b, proofFactor*size); err != nil {
		return "", err
	}
	return os.MkdirTemp(parent, proofName+"-*")
}

func (k *remoteKeeper) prune(ctx context.Context, keep copies.Keep) error {
	r, err := k.open(ctx)
	if err != nil {
		return err
	}
	s := k.scan
	if k.scan = nil; s == nil {
		if s, err = r.Scan(ctx); err != nil {
			return err
		}
	}
	_, err = r.Prune(ctx, s, keep, time.Local)
	return err
}

func (k *remoteKeeper) warnings() (all []errs.Message) {
	if k.target.Kind() == target.Directory && disk.SameDisk(k.target.Path, k.b.s.DB.Dir()) {
		all = append(all, errs.Say("the directory is on the disk of the data: both are lost together"))
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.overwrites {
		all = append(all, errs.Say("the target replaces objects although it is told not to"))
	}
	if !k.other.IsZero() {
		all = append(all, errs.Say("another server with a copy of this data stores copies here, last at %s; nothing is deleted", k.other.UTC().Format(time.RFC3339)))
	}
	return all
}
