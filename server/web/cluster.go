package web

import (
	"context"
	"sync"
	"time"
)

// Cluster is this server as one of several with the same data, see package cluster.
type Cluster interface {
	// Serving returns why this node must not answer requests now; nil if it may. It is called with every
	// request.
	Serving() error

	// OnDuty reports whether this node has the duties: what only one node does at a time. Two nodes can
	// have them for a moment.
	OnDuty() bool

	// Live returns the number of nodes in contact with etcd, at least 1.
	Live() int

	// State asks etcd for the state of all nodes.
	State(ctx context.Context) (NodesState, error)
}

// NodesState is the state of all nodes.
type NodesState struct {
	Epoch  string       `json:"epoch"`
	Number uint64       `json:"number"` // last entry in the log of commits
	Base   uint64       `json:"base"`   // last entry in the newest base copy
	Nodes  []NodeState  `json:"nodes"`
	Etcd   []EtcdMember `json:"etcd"`
}

// NodeState is the state of a node.
type NodeState struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Applied uint64 `json:"applied"` // last entry that it has reported
	Duties  bool   `json:"duties"`
	Self    bool   `json:"self"` // whether it is the node that answers
}

// EtcdMember is the state of a member of etcd.
type EtcdMember struct {
	Endpoint  string   `json:"endpoint"`
	Error     string   `json:"error"` // why there is no answer; "" if there is
	Version   string   `json:"version"`
	Leader    bool     `json:"leader"`
	LatencyMS int64    `json:"latency_ms"`
	Bytes     int64    `json:"bytes"`
	Used      int64    `json:"used_bytes"`
	Quota     int64    `json:"quota_bytes"`
	Alarms    []string `json:"alarms"`
}

// Latency returns how long the member took to answer.
func (m *EtcdMember) Latency() time.Duration { return time.Duration(m.LatencyMS) * time.Millisecond }

// OnDuty reports whether this server does what only one node does at a time.
func (s *Server) OnDuty() bool { return s.Config.Cluster == nil || s.Config.Cluster.OnDuty() }

// LiveNodes returns the number of nodes in contact, 1 for a server that is the only one.
func (s *Server) LiveNodes() int {
	if s.Config.Cluster == nil {
		return 1
	}
	return max(1, s.Config.Cluster.Live())
}

// dutyStep is how often a node looks whether it has the duties.
const dutyStep = 100 * time.Millisecond

// Duties returns tasks that run while this server has the duties. In a cluster they end when another node
// gets them, and begin again when this one does.
func (s *Server) Duties(tasks ...func(context.Context)) []func(context.Context) {
	if s.Config.Cluster == nil {
		return tasks
	}
	return []func(context.Context){func(ctx context.Context) {
		for s.awaitDuties(ctx, true) {
			turn, end := context.WithCancel(ctx)
			var running sync.WaitGroup
			for _, task := range tasks {
				running.Go(func() { task(turn) })
			}
			s.awaitDuties(ctx, false)
			end()
			running.Wait()
		}
	}}
}

// awaitDuties waits until this node has the duties, or has them no more, and reports whether ctx goes on.
func (s *Server) awaitDuties(ctx context.Context, has bool) bool {
	tick := time.NewTicker(dutyStep)
	defer tick.Stop()
	for s.OnDuty() != has {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
	return ctx.Err() == nil
}
