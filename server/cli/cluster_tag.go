//go:build cluster

package cli

import (
	"reeve/server/cluster"
	"reeve/store/copies"
	"reeve/store/etcd"
)

func init() {
	openNode = func(p *program, otherEtcd bool) (node, error) {
		c := p.config.Cluster
		n, err := cluster.Open(cluster.Options{
			Etcd: etcd.Options{
				Endpoints: c.Etcd,
				Prefix:    c.Prefix,
				CA:        c.CA,
				Cert:      c.Cert,
				Key:       c.Key,
				User:      c.User,
				Password:  c.Password,
			},
			Name:      c.Node,
			Version:   p.Version,
			OtherEtcd: otherEtcd,
			Dir:       p.config.DataDir,
			Bucket:    p.config.Files.Storage.(copies.Target), // every bucket is one
			Config:    func() map[string]string { return p.inForce().Shared() },
			Log:       func(text string, err error) { p.log.Warn().Err(err).Msg(text) },
		})
		return n, err
	}
	leaveCluster, forgetCluster = cluster.Leave, cluster.Forget
}
