//go:build cluster

package cli

import (
	"context"

	"reeve/server/cluster"
	"reeve/store/copies"
	"reeve/store/etcd"
)

func init() {
	openNode = func(p *program) (node, error) {
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
			Name:    c.Node,
			Version: p.Version,
			Dir:     p.config.DataDir,
			Bucket:  p.config.Files.Storage.(copies.Target), // every bucket is one
			Log:     func(text string, err error) { p.log.Warn().Err(err).Msg(text) },
		})
		return clusterOf{n}, err
	}
	leaveCluster = cluster.Leave
}

// clusterOf is a node whose state can be printed.
type clusterOf struct{ *cluster.Node }

func (n clusterOf) State(ctx context.Context) (clusterState, error) {
	s, err := n.Node.State(ctx)
	out := clusterState{Epoch: s.Head.Epoch, Number: s.Head.Number, Base: s.Base.Number, Nodes: []clusterNode{}, Etcd: []clusterMember{}}
	for _, one := range s.Nodes {
		out.Nodes = append(out.Nodes, clusterNode{one.Name, one.Version, one.Applied, one.Lease == s.Duty})
	}
	for _, m := range s.Members {
		member := clusterMember{
			Endpoint: m.Endpoint, Version: m.Version, Leader: m.Leader, LatencyMS: m.Latency.Milliseconds(),
			Bytes: m.Size, Used: m.Used, Quota: m.Quota, Alarms: append([]string{}, m.Faults...),
		}
		if m.Err != nil {
			member.Error = m.Err.Error()
		}
		out.Etcd = append(out.Etcd, member)
	}
	return out, err
}
