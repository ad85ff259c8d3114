package etcd

import (
	"context"
	"fmt"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// MostNote is the maximum size of a note in bytes.
const MostNote = 512 << 10

// SetNote leaves a text under a name for all nodes, beside the log. It replaces the one before.
func (l *Log) SetNote(ctx context.Context, name string, text []byte) error {
	if len(text) > MostNote {
		return fmt.Errorf("the note %s has %d bytes: the maximum is %d", name, len(text), MostNote)
	}
	_, err := l.write(ctx, transaction{then: []clientv3.Op{clientv3.OpPut(l.key("note/"+name), string(text))}})
	return err
}

// Notes returns the notes whose names have a prefix, as they are when it is called or later.
func (l *Log) Notes(ctx context.Context, prefix string) (map[string][]byte, error) {
	a, err := l.read(ctx, clientv3.OpGet(l.key("note/"+prefix), clientv3.WithPrefix()))
	if err != nil {
		return nil, err
	}
	all := map[string][]byte{}
	for _, kv := range a.values(0) {
		all[strings.TrimPrefix(string(kv.Key), l.key("note/"))] = kv.Value
	}
	return all, nil
}
