package cluster

import (
	"context"
	"crypto/cipher"

	"reeve/store/seal"
)

// noteSeal returns the cipher of notes, whose key is derived from secret.key.
func (n *Node) noteSeal() (cipher.AEAD, error) {
	key, err := n.db.DerivedKey("node note")
	if err != nil {
		return nil, err
	}
	return seal.AEAD(key)
}

// SetNote implements web.Cluster.
func (n *Node) SetNote(ctx context.Context, name string, text []byte) error {
	c, err := n.noteSeal()
	if err != nil {
		return err
	}
	return n.etcd.SetNote(ctx, name, c.Seal(nil, nil, text, []byte(name)))
}

// Notes implements web.Cluster.
func (n *Node) Notes(ctx context.Context, prefix string) (map[string][]byte, error) {
	c, err := n.noteSeal()
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
