package web

import (
	"context"
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
