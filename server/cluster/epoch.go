package cluster

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/etcd"
	"reeve/store/kv"
	"reeve/store/stream"
)

// An epoch is the life of a cluster from one beginning to the next: the first one, a restore, or an upgrade
// that changes the schema. Nodes that run take the base copy of a new epoch by themselves.

// Init makes the data of a directory those of a new cluster. It can be repeated after an error.
func (n *Node) Init(ctx context.Context, o store.Options) error {
	is, err := n.initialized(ctx)
	if err != nil {
		return err
	}
	if is {
		return errors.New("there is a cluster already: start the node, which takes a copy of the data; or choose another cluster.prefix for a new cluster")
	}
	if known, err := remember(n.options.Dir); err != nil || known.Etcd != 0 { // another node may have more changes
		return errors.Join(err, errors.New("this node belongs to a cluster that etcd does not know any more: compare the nodes with "+
			"`reeve cluster restore --from-node`, or run `reeve cluster leave` to begin another cluster"))
	}
	return n.begin(ctx, o, n.after(ctx, etcd.Position{}))
}

// Replace makes the data of a directory those of the cluster, in place of the ones that it has. What other
// nodes write in the meantime is replaced, too. It can be repeated after an error.
func (n *Node) Replace(ctx context.Context, o store.Options) error {
	for {
		from, err := n.etcd.Head(ctx)
		switch {
		case errors.Is(err, etcd.ErrNoHead):
			err = n.begin(ctx, o, n.after(ctx, etcd.Position{}))
		case err == nil:
			// Not after a position: while other nodes write, that would never succeed.
			err = n.begin(ctx, o, func(to etcd.Position, base etcd.Base) error {
				return n.etcd.Replace(ctx, from.Epoch, to, base)
			})
		}
		if !errors.Is(err, etcd.ErrEpoch) || ctx.Err() != nil { // another one has begun an epoch
			return err
		}
	}
}

// after begins an epoch in etcd in place of one that ended at a position.
func (n *Node) after(ctx context.Context, from etcd.Position) func(etcd.Position, etcd.Base) error {
	return func(to etcd.Position, base etcd.Base) error { return n.etcd.Begin(ctx, from, to, base) }
}

// begin begins an epoch with the data of the directory. inEtcd does so in etcd.
func (n *Node) begin(ctx context.Context, o store.Options, inEtcd func(etcd.Position, etcd.Base) error) error {
	o.LeaveCommitLog = true // what an attempt that failed has begun
	db, err := store.Open(n.options.Dir, o)
	if err != nil {
		return err
	}
	local, err := db.LocalContents()
	if err == nil && local > 0 {
		err = fmt.Errorf("the contents of %s are only in this directory: start the server without [cluster], run `reeve files move s3`, and try again", errs.Count(local, "file"))
	}
	var head stream.Head
	if err == nil {
		head, err = db.BeginCommitLog()
	}
	if err != nil {
		return errors.Join(err, db.Close())
	}
	base, err := n.storeBase(ctx, db)
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	if err := inEtcd(positionOf(head), base); err != nil {
		return err
	}
	return n.save()
}

// Upgrade brings the records of a stopped cluster to the schema of this program: it takes the base copy and
// the entries after it, and begins an epoch. It can be repeated after an error.
func (n *Node) Upgrade(ctx context.Context, o store.Options) error {
	nodes, err := n.etcd.Nodes(ctx)
	if err != nil {
		return named(err)
	}
	if len(nodes) > 0 {
		var names []string
		for _, one := range nodes {
			names = append(names, one.Name)
		}
		return fmt.Errorf("these nodes run, or ended within the last 10 seconds: %s; stop all nodes, and try again", strings.Join(names, ", "))
	}
	base, head, err := n.etcd.Base(ctx)
	if err != nil {
		return named(err)
	}
	instance, err := n.instanceOf(base)
	if err != nil {
		return err
	}
	identities, err := n.keys(instance, kv.CommitLogKey, kv.CommitLogStanza)
	if err != nil {
		return err
	}
	opener := stream.NewOpener(identities...)
	entries := func(from stream.Head) iter.Seq2[*stream.Entry, error] {
		return n.entries(ctx, from, head.Number, opener)
	}
	if err := n.take(ctx, base, entries, o); err != nil {
		return err
	}
	return n.begin(ctx, o, n.after(ctx, head))
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
