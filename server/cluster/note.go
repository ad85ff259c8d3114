package cluster

import (
	"context"

	"reeve/store/seal"
)

// Notes are sealed with a key that is derived from secret.key.
const notePlace = "node note"

// SetNote implements web.Cluster.
func (n *Node) SetNote(ctx context.Context, name string, text []byte) error {
	key, err := n.db.DerivedKey(notePlace)
	if err != nil {
		return err
	}
	c, err := seal.AEAD(key)
	if err != nil {
		return err
	}
	return n.etcd.SetNote(ctx, name, c.Seal(nil, nil, text, []byte(name)))
}

// Notes implements web.Cluster.
func (n *Node) Notes(ctx context.Context, prefix string) (map[string][]byte, error) {
	key, err := n.db.DerivedKey(notePlace)
	if err != nil {
		return nil, err
	}
	c, err := seal.AEAD(key)
	if err != nil {
		return nil, err
	}
	all, err := n.etcd.Notes(ctx, prefix)
	for name, sealed := range all {
		text, err := c.Open(nil, nil, sealed, []byte(name))
		if err != nil { // of an earlier secret.key, or altered
			delete(all, name)
			continue
		}
		all[name] = text
	}
	return all, err
}
