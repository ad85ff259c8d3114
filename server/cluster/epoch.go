package cluster

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"reeve/store"
	"reeve/store/etcd"
	"reeve/store/kv"
	"reeve/store/stream"
)

// An epoch is the life of a cluster from one beginning to the next: the first one, a restore, or an upgrade
// that changes the schema. Nodes that run take the base copy of a new epoch by themselves.

// Init makes the data of a directory those of a new cluster. Contents of files that the bucket lacks are stored
// there; missing are the names of those that are not here either. It can be repeated after an error.
func (n *Node) Init(ctx context.Context, o store.Options) (missing []string, err error) {
	is, err := n.initialized(ctx)
	if err != nil {
		return nil, err
	}
	if is {
		return nil, errors.New("there is a cluster already: start the node, which takes a copy of the data; or choose another cluster.prefix for a new cluster")
	}
	if known, err := remember(n.options.Dir); err != nil || known.Etcd != 0 { // another node may have more changes
		return nil, errors.Join(err, errors.New("this node belongs to a cluster that etcd does not know any more: compare the nodes with "+
			"`reeve cluster restore --from-node`, or run `reeve cluster leave` to begin another cluster"))
	}
	return n.begin(ctx, o, true, n.after(ctx, etcd.Position{}))
}

// Replace makes the data of a directory those of the cluster, in place of the ones that it has. What other
// nodes write in the meantime is replaced, too. For missing see Init. It can be repeated after an error.
func (n *Node) Replace(ctx context.Context, o store.Options) (missing []string, err error) {
	for {
		from, err := n.etcd.Head(ctx)
		switch {
		case errors.Is(err, etcd.ErrNoHead):
			missing, err = n.begin(ctx, o, true, n.after(ctx, etcd.Position{}))
		case err == nil:
			// Not after a position: while other nodes write, that would never succeed.
			missing, err = n.begin(ctx, o, true, func(to etcd.Position, base etcd.Base) error {
				return n.etcd.Replace(ctx, from.Epoch, to, base)
			})
		}
		if !errors.Is(err, etcd.ErrEpoch) || ctx.Err() != nil { // another one has begun an epoch
			return missing, err
		}
	}
}

// after begins an epoch in etcd in place of one that ended at a position.
func (n *Node) after(ctx context.Context, from etcd.Position) func(etcd.Position, etcd.Base) error {
	return func(to etcd.Position, base etcd.Base) error { return n.etcd.Begin(ctx, from, to, base) }
}

// begin begins an epoch with the data of the directory. fill is whether the bucket may lack contents of files,
// see Init. inEtcd begins it in etcd.
func (n *Node) begin(ctx context.Context, o store.Options, fill bool, inEtcd func(etcd.Position, etcd.Base) error) (missing []string, err error) {
	o.LeaveCommitLog = true // what an attempt that failed has begun
	db, err := store.Open(n.options.Dir, o)
	if err != nil {
		return nil, err
	}
	if fill {
		missing, err = fillBucket(ctx, db)
	}
	var head stream.Head
	if err == nil {
		head, err = db.BeginCommitLog()
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	base, err := n.storeBase(ctx, db)
	if err = errors.Join(err, db.Close()); err != nil {
		return nil, err
	}
	if err := inEtcd(positionOf(head), base); err != nil {
		return nil, err
	}
	return missing, n.save()
}

// fillBucket stores the contents of files that the bucket lacks there: other nodes have no other source. It
// returns the names of the files whose contents can't be read here either.
func fillBucket(ctx context.Context, db *store.DB) (names []string, err error) {
	missing, err := db.FillBucket(ctx)
	if err != nil {
		return nil, fmt.Errorf("store the contents of files in the bucket: %w", err)
	}
	err = db.View(store.System, func(tx *store.Tx) error {
		for _, d := range missing {
			before := len(names)
			for f, err := range store.FileByDigest.All(tx, d.String()) {
				if err != nil {
					return err
				}
				names = append(names, f.Name)
			}
			if len(names) == before {
				names = append(names, "photo of a user")
			}
		}
		return nil
	})
	return names, err
}

// noneRuns returns an error that names the nodes that run.
func (n *Node) noneRuns(ctx context.Context) error {
	nodes, err := n.etcd.Nodes(ctx)
	if err != nil {
		return named(err)
	}
	var names []string
	for _, one := range nodes {
		names = append(names, one.Name)
	}
	if len(names) > 0 {
		return fmt.Errorf("these nodes run, or ended within the last 10 seconds: %s; stop all nodes, and try again", strings.Join(names, ", "))
	}
	return nil
}

// Replaceable returns an error if the data of a node, which end with the last entry of an epoch, must not replace those of
// the cluster: nodes run, or etcd has entries that the data lack. Independent data have no position of the cluster: entry, nil
// for none, must be the number of the last one in etcd, which confirms that all may be lost.
func (n *Node) Replaceable(ctx context.Context, epoch string, last uint64, independent bool, entry *uint64) error {
	if err := n.noneRuns(ctx); err != nil {
		return err
	}
	head, err := n.etcd.Head(ctx)
	switch {
	case errors.Is(err, etcd.ErrNoHead):
		return nil
	case err != nil:
		return named(err)
	case independent && (entry == nil || *entry != head.Number):
		return fmt.Errorf("the data in this directory belong to no cluster, and would replace those that end with entry %d in etcd: "+
			"run this on the node that had all of them, and confirm it with --entry %[1]d", head.Number)
	case !independent && (head.Epoch != epoch || head.Number > last):
		return fmt.Errorf("etcd has entries that these data lack, up to entry %d of the epoch %s: start this node, which takes them; "+
			"to give them up, run `reeve cluster leave` first", head.Number, head.Epoch)
	}
	return nil
}

// Upgrade brings the records of a stopped cluster to the schema of this program: it takes the base copy and
// the entries after it, and begins an epoch. If they have this schema, it changes nothing, and needed is false. It can
// be repeated after an error.
func (n *Node) Upgrade(ctx context.Context, o store.Options) (needed bool, err error) {
	if err := n.noneRuns(ctx); err != nil {
		return false, err
	}
	base, head, err := n.etcd.Base(ctx)
	if err != nil {
		return false, named(err)
	}
	instance, err := n.instanceOf(base)
	if err != nil {
		return false, err
	}
	identities, err := n.keys(instance, kv.CommitLogKey, kv.CommitLogStanza)
	if err != nil {
		return false, err
	}
	opener := stream.NewOpener(identities...)
	entries := func(from stream.Head) iter.Seq2[*stream.Entry, error] {
		return n.entries(ctx, from, head.Number, opener)
	}
	if err := n.take(ctx, base, entries, o); errors.Is(err, kv.ErrCurrent) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	_, err = n.begin(ctx, o, false, n.after(ctx, head))
	return err == nil, err
}

// entries yields the entries of the log after a position, up to the one with a number.
func (n *Node) entries(ctx context.Context, from stream.Head, to uint64, opener *stream.Opener) iter.Seq2[*stream.Entry, error] {
	return func(yield func(*stream.Entry, error) bool) {
		if from.Number >= to {
			return
		}
		err := n.etcd.From(ctx, positionOf(from), func(sealed *etcd.Entry) error {
			e, err := opener.Open(sealed.Sealed)
			if err != nil {
				return err
			}
			if !yield(e, nil) || e.Number == to {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(nil, named(err))
		}
	}
}

// errEnough ends the reading of entries.
var errEnough = errors.New("no more entries are needed")
