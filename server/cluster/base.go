package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"filippo.io/age"

	"reeve/store"
	"reeve/store/copies"
	"reeve/store/etcd"
	"reeve/store/kv"
	"reeve/store/seal"
)

// A base copy is an archive of the records, encrypted with a key that is derived from secret.key, in the
// bucket under cluster/INSTALLATION/EPOCH/NUMBER-RANDOM.

const (
	basePrefix = "cluster/"
	basePlace  = "base copy" // purpose of the key, see kv.DB.DerivedKey
	baseStanza = "reeve-base"
	baseBytes  = 64 << 20         // size of the entries after which there is a new base copy
	baseEvery  = 15 * time.Minute // time after which there is one, if there were entries
	baseYoung  = time.Hour        // age up to which a base copy that etcd does not name is kept
)

// storeBase stores a base copy of a database.
func (n *Node) storeBase(ctx context.Context, db *store.DB) (base etcd.Base, err error) {
	key, err := db.DerivedKey(basePlace)
	if err != nil {
		return base, err
	}
	recipient, err := seal.NewKey(key, baseStanza, "")
	if err != nil {
		return base, err
	}
	b, err := db.BackupRecords(ctx, false)
	if err != nil {
		return base, err
	}
	defer b.Close() // a copy that can't be closed was made anyway
	head := b.StreamHead()
	if head.Epoch == "" {
		return base, errors.New("the data have no position in the log of commits")
	}
	name := fmt.Sprintf("%s%s/%s/%020d-%s", basePrefix, db.Instance(), head.Epoch, head.Number, strings.ToLower(rand.Text()[:8]))
	_, err = copies.Put(ctx, n.options.Bucket, name, b.Size(), []age.Recipient{recipient}, func(out io.Writer) error {
		_, err := b.WriteTo(out)
		return err
	})
	return etcd.Base{Epoch: head.Epoch, Number: head.Number, Name: name, At: time.Now().UTC().Truncate(time.Second)}, err
}

// instanceIn returns the installation of a base copy.
func instanceIn(name string) (string, error) {
	parts := strings.Split(strings.TrimPrefix(name, basePrefix), "/")
	if len(parts) != 3 {
		return "", fmt.Errorf("%q is no base copy", name)
	}
	return parts[0], nil
}

// Prepare opens the data of this node. If the log does not continue them, or there are none, it takes a
// base copy first. open opens the database.
func (n *Node) Prepare(ctx context.Context, o store.Options, open func() error) error {
	taken := ""
	for {
		err := open()
		if !errors.Is(err, kv.ErrOtherCopy) || ctx.Err() != nil {
			return err
		}
		base, _, baseErr := n.etcd.Base(ctx)
		switch {
		case baseErr != nil:
			return fmt.Errorf("take a copy of the data: %w", named(baseErr))
		case base.Name == taken: // a newer one would have been stored while the last one was taken
			return err
		}
		n.options.Log("this node takes a copy of the data", err)
		if err := n.take(ctx, base, nil, o); err != nil {
			return fmt.Errorf("take a copy of the data: %w", err)
		}
		if err := n.save(); err != nil {
			return err
		}
		taken = base.Name
	}
}

// take replaces the data by a base copy to which entries are applied; nil for none.
func (n *Node) take(ctx context.Context, base etcd.Base, entries kv.Entries, o store.Options) error {
	instance, err := n.instanceOf(base)
	if err != nil {
		return err
	}
	identities, err := n.keys(instance, basePlace, baseStanza)
	if err != nil {
		return err
	}
	path := filepath.Join(n.options.Dir, "base-copy.new")
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := copies.FetchObject(ctx, n.options.Bucket, base.Name, path); err != nil {
		return err
	}
	done, err := store.Join(n.options.Dir, path, identities, entries, o)
	foreign := done.WrongKey || errors.Is(err, kv.ErrOtherIdentity)
	if err = errors.Join(err, os.Remove(path)); err != nil && !foreign {
		return err
	}
	if foreign {
		return errors.New("the secret.key in the data directory is not that of the cluster: copy it from another node")
	}
	return n.keepOne(done.Kept)
}

// keepOne removes the data that the copy before the last one has replaced. kept is the directory with those
// that the last one has.
func (n *Node) keepOne(kept string) error {
	known, err := remember(n.options.Dir)
	if err != nil || kept == "" {
		return err
	}
	if known.Kept != "" && filepath.IsLocal(known.Kept) && known.Kept != filepath.Base(kept) {
		if err := os.RemoveAll(filepath.Join(n.options.Dir, known.Kept)); err != nil {
			return err
		}
	}
	known.Kept = filepath.Base(kept)
	return n.write(known)
}

// instanceOf returns the installation of a base copy. It is an error if the data here are of another one.
func (n *Node) instanceOf(base etcd.Base) (string, error) {
	instance, err := instanceIn(base.Name)
	if err != nil {
		return "", err
	}
	if marked, err := os.ReadFile(filepath.Join(n.options.Dir, "instance")); err == nil && strings.TrimSpace(string(marked)) != instance {
		return "", fmt.Errorf("the data in %s are of another installation than the cluster", n.options.Dir)
	}
	return instance, nil
}

// keys returns the identities that follow from the keys in secret.key.
func (n *Node) keys(instance, place, stanza string) (all []age.Identity, err error) {
	keys, err := kv.DerivedKeys(n.options.Dir, instance, place)
	for _, key := range keys {
		if err == nil {
			var identity age.Identity
			identity, err = seal.NewKey(key, stanza, "")
			all = append(all, identity)
		}
	}
	return all, err
}

// duties takes the duties if no node has them, and does them.
func (n *Node) duties(ctx context.Context) error {
	if n.etcd.Lease() == 0 {
		return nil
	}
	holder, err := n.etcd.TakeDuty(ctx)
	if err != nil || holder != n.etcd.Lease() {
		return err
	}
	return n.renewBase(ctx)
}

// renewBase stores a base copy when there are enough entries since the last one, and removes what is
// older than the one before.
func (n *Node) renewBase(ctx context.Context) error {
	base, head, err := n.etcd.Base(ctx)
	if err != nil {
		return err
	}
	now := time.Now()
	if known := n.based; known == nil || known.name != base.Name {
		n.based = &baseSeen{name: base.Name, made: base.At, at: now, bytes: n.log.bytes.Load()}
	}
	if head.Number == base.Number || n.based.age(now) < n.options.baseEvery() && n.log.bytes.Load()-n.based.bytes < n.options.baseBytes() {
		return n.forget(ctx, now)
	}
	during, end := n.whileOnDuty(ctx)
	made, err := n.storeBase(during, n.db)
	end()
	if err != nil {
		return fmt.Errorf("store a base copy: %w", err)
	}
	if err := n.etcd.SetBase(ctx, made); err != nil {
		err = fmt.Errorf("store a base copy: %w", err)
		if errors.Is(err, etcd.ErrOldBase) {
			return errors.Join(err, n.options.Bucket.Delete(ctx, made.Name))
		}
		return err // after another error, etcd may name the copy
	}
	if err := n.etcd.Trim(ctx); err != nil {
		err = fmt.Errorf("remove old entries: %w", err)
		if errors.Is(err, etcd.ErrNoCompaction) {
			return errors.Join(err, n.sweepBases(ctx, made.Name, base.Name))
		}
		return err
	}
	return n.sweepBases(ctx, made.Name, base.Name)
}

// whileOnDuty returns a context that ends when another node has the duties. Until then, this node takes them again if its
// lease has changed, as it does between copies: one takes minutes. end releases it.
func (n *Node) whileOnDuty(ctx context.Context) (during context.Context, end context.CancelFunc) {
	during, end = context.WithCancel(ctx)
	go func() {
		for during.Err() == nil {
			select {
			case <-during.Done():
			case <-time.After(time.Second):
				if holder, err := n.etcd.TakeDuty(during); err == nil && holder != n.etcd.Lease() {
					end()
				}
			}
		}
	}()
	return during, end
}

// forget lets etcd forget old revisions as often as base copies would: the reports of nodes fill it, too.
func (n *Node) forget(ctx context.Context, now time.Time) error {
	if n.based.forgot.IsZero() {
		n.based.forgot = now
	}
	if now.Sub(n.based.forgot) < n.options.baseEvery() {
		return nil
	}
	n.based.forgot = now
	if err := n.etcd.Forget(ctx); !errors.Is(err, etcd.ErrNoCompaction) {
		return err
	}
	return nil // Trim says so
}

// sweepBases deletes base copies other than the last two, unless they are young: another node may be
// storing one.
func (n *Node) sweepBases(ctx context.Context, kept ...string) error {
	all, err := n.options.Bucket.List(ctx, basePrefix+n.db.Instance()+"/")
	if err != nil {
		return err
	}
	for _, o := range all {
		if slices.Contains(kept, o.Name) || time.Since(o.Modified) < baseYoung {
			continue
		}
		if err := n.options.Bucket.Delete(ctx, o.Name); err != nil {
			return err
		}
	}
	return nil
}

// baseSeen is a base copy that this node has seen.
type baseSeen struct {
	name  string
	made  time.Time // time of the copy, by the clock of its node; zero if unknown
	at    time.Time // time at which it was seen first
	bytes int64     // size of the entries that had been received

	forgot time.Time // last time at which etcd was let forget old revisions; zero before
}

// age returns the age of a base copy. The node with the duties may have seen it just now, and the clock of the node
// that made it may be ahead.
func (b *baseSeen) age(now time.Time) time.Duration {
	seen := now.Sub(b.at)
	if b.made.IsZero() {
		return seen
	}
	return max(seen, now.Sub(b.made))
}

func (o *Options) baseEvery() time.Duration {
	if o.BaseEvery > 0 {
		return o.BaseEvery
	}
	return baseEvery
}

func (o *Options) baseBytes() int64 {
	if o.BaseBytes > 0 {
		return o.BaseBytes
	}
	return baseBytes
}
