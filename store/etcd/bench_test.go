package etcd_test

import (
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"reeve/store/etcd/etcdtest"
)

// BenchmarkAppend appends entries of 1 KB, one after another, and compares with writes of the client.
func BenchmarkAppend(b *testing.B) {
	server := etcdtest.Start(b)
	o := etcdtest.Options(server)
	n := begin(b, o)
	raw := client(b, clientv3.Config{Endpoints: o.Endpoints})
	b.Run("log", func(b *testing.B) {
		for b.Loop() {
			_, err := n.add(b.Context(), entry(1000))
			must(b, err)
		}
	})
	b.Run("put", func(b *testing.B) {
		value := string(make([]byte, 1000))
		for b.Loop() {
			_, err := raw.Put(b.Context(), "another", value)
			must(b, err)
		}
	})
}
