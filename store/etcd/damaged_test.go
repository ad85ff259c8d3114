package etcd_test

import (
	"context"
	"fmt"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"reeve/store/etcd"
	"reeve/store/etcd/etcdtest"
)

// client returns a client that can write what a Log never would.
func client(t testing.TB, c clientv3.Config) *clientv3.Client {
	t.Helper()
	c.Logger = zap.NewNop()
	raw, err := clientv3.New(c)
	must(t, err)
	t.Cleanup(func() { raw.Close() })
	return raw
}

// TestFrom_Damaged puts into etcd what Append never would, under a node that follows and one that
// begins to.
func TestFrom_Damaged(t *testing.T) {
	t.Parallel()
	server := etcdtest.Start(t)
	raw := client(t, clientv3.Config{Endpoints: []string{server.URL}})
	entryOf := func(number uint64, previous etcd.Hash) (key, value string) {
		return fmt.Sprintf("log/%s/%020d", epoch, number), fmt.Sprintf("\x01\x00%s%s%s", etcd.Nonce{}, previous, etcd.Hash{byte(number)})
	}
	head := func(number uint64, hash etcd.Hash) string { return fmt.Sprintf("%s %d %x", epoch, number, hash) }
	for name, c := range map[string]struct {
		change    func(at etcd.Position, put func(key, value string)) // in one transaction
		following error
		beginning error
	}{
		"gap": {func(at etcd.Position, put func(key, value string)) {
			put(entryOf(4, etcd.Hash{3}))
			put("head", head(4, etcd.Hash{4}))
		}, etcd.ErrGap, etcd.ErrTrimmed},
		"another predecessor": {func(at etcd.Position, put func(key, value string)) {
			put(entryOf(3, etcd.Hash{7}))
			put("head", head(3, etcd.Hash{3}))
		}, etcd.ErrDiverged, etcd.ErrDiverged},
		"cut off": {func(at etcd.Position, put func(key, value string)) {
			key, value := entryOf(3, at.Hash)
			put(key, value[:20])
			put("head", head(3, etcd.Hash{3}))
		}, etcd.ErrGap, etcd.ErrGap},
		"another version": {func(at etcd.Position, put func(key, value string)) {
			key, value := entryOf(3, at.Hash)
			put(key, "\x02"+value[1:])
			put("head", head(3, etcd.Hash{3}))
		}, etcd.ErrGap, etcd.ErrGap},
		"lower head": {func(at etcd.Position, put func(key, value string)) {
			put("head", head(1, etcd.Hash{1}))
		}, etcd.ErrGap, etcd.ErrBehind},
		"another head": {func(at etcd.Position, put func(key, value string)) {
			put("head", head(2, etcd.Hash{9}))
		}, etcd.ErrGap, etcd.ErrDiverged},
		"unreadable head": {func(at etcd.Position, put func(key, value string)) {
			put("head", epoch)
		}, etcd.ErrGap, etcd.ErrGap},
		"head without entry": {func(at etcd.Position, put func(key, value string)) {
			put("head", head(3, etcd.Hash{3}))
		}, etcd.ErrGap, etcd.ErrTrimmed},
		"entry without head": {func(at etcd.Position, put func(key, value string)) {
			put(entryOf(3, at.Hash))
		}, nil, etcd.ErrDiverged},
		"entry of an ended epoch": {func(at etcd.Position, put func(key, value string)) {
			_, value := entryOf(3, at.Hash)
			put("log/epoch-0/00000000000000000003", value)
		}, etcd.ErrEpoch, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := etcdtest.Options(server)
			o.Prefix = "/" + name + "/"
			n := begin(t, o)
			n.addMany(t, 2, 10)
			log, begun, ended := etcdtest.Open(t, o), make(chan bool, 1), make(chan error, 1)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() {
				ended <- log.From(ctx, etcd.Position{Epoch: epoch}, func(e *etcd.Entry) error {
					if e.Number == 2 {
						close(begun)
					}
					return nil
				})
			}()
			<-begun

			var ops []clientv3.Op
			c.change(n.head, func(key, value string) { ops = append(ops, clientv3.OpPut(name+"/"+key, value)) })
			_, err := raw.Txn(t.Context()).Then(ops...).Commit()
			must(t, err)
			if c.beginning != nil {
				wants(t, n.log.From(t.Context(), n.head, func(*etcd.Entry) error { return nil }), c.beginning)
			}
			if c.following != nil {
				wants(t, <-ended, c.following)
			}
		})
	}
}
