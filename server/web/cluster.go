package web

import (
	"context"
	"sync"
	"time"

	"reeve/store"
	"reeve/store/errs"
)

// Cluster is this server as one of several with the same data, see package cluster.
type Cluster interface {
	// Name returns the name of this node.
	Name() string

	// Serving returns why this node must not answer requests now; nil if it may. It is called with every
	// request.
	Serving() error

	// OnDuty reports whether this node has the duties: what only one node does at a time. Two nodes can
	// have them for a moment.
	OnDuty() bool

	// Live returns the number of nodes in contact with etcd, at least 1.
	Live() int

	// State returns the state of all nodes, at most a few seconds old. With an error, it has the members of etcd, and
	// the nodes as they were seen last.
	State(ctx context.Context) (NodesState, error)

	// Applied returns the names of the nodes that have applied an entry of the log of commits, and of those that have
	// not, or have lost contact in the last hour. It waits for them for as long as a node takes to report it.
	Applied(ctx context.Context, number uint64) (has, lacks []string)

	// SetNote leaves a text for all nodes under a name, in the place of the one before. What is lost with etcd, or
	// not read by an earlier secret.key, must be no loss.
	SetNote(ctx context.Context, name string, text []byte) error

	// Notes returns the texts whose names have a prefix.
	Notes(ctx context.Context, prefix string) (map[string][]byte, error)

	// Health returns the state of the nodes as a component, see NodesHealth.
	Health() Part

	// WriteMetrics writes the metrics of this node, see WriteNodeMetrics.
	WriteMetrics(out *Samples)
}

// NodesState is the state of all nodes.
type NodesState struct {
	Cluster store.Flag   `json:"cluster" doc:"1 if this server is one of several nodes; otherwise the other fields are empty"`
	Node    string       `json:"node" doc:"Name of the node that answers"`
	Error   string       `json:"error" doc:"Why etcd does not answer; empty if it does"`
	Epoch   string       `json:"epoch" doc:"Name of the numbering of entries"`
	Number  uint64       `json:"number" doc:"Number of the last entry in the log of commits"`
	Base    uint64       `json:"base" doc:"Number of the last entry in the newest base copy"`
	BaseAt  store.Time   `json:"base_at" null:"true" doc:"Time of the newest base copy; null if unknown"`
	Applied uint64       `json:"applied" doc:"Number of the last entry that the node that answers has applied"`
	Heard   store.Time   `json:"answered_at" null:"true" doc:"Time of the last question of this node that etcd has answered; null before the first"`
	Nodes   []NodeState  `json:"nodes"`
	Etcd    []EtcdMember `json:"etcd" doc:"Members of etcd"`
}

// NodeState is the state of a node.
type NodeState struct {
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	Schema     int        `json:"schema" doc:"Version of the schema of its data; 0 if unknown"`
	Applied    uint64     `json:"applied" doc:"Number of the last entry that it has reported"`
	Behind     uint64     `json:"behind" doc:"Number of entries that it has not reported yet"`
	Contact    store.Flag `json:"contact" doc:"1 if it is in contact with etcd"`
	Duties     store.Flag `json:"duties" doc:"1 if it does what only one node does at a time"`
	Self       store.Flag `json:"self" doc:"1 if it is the node that answers"`
	ReportedAt store.Time `json:"reported_at" null:"true" doc:"Time of its last report, by its clock; null if the report can't be read"`
	StartedAt  store.Time `json:"started_at" null:"true" doc:"Time of its start; null if unknown"`
	Free       int64      `json:"disk_free_bytes" doc:"Free bytes on the disk of its data directory; -1 if unknown"`
	Data       int64      `json:"data_bytes" doc:"Size of its database files"`
	Differs    []string   `json:"differs" doc:"Configuration keys whose values must be the same at all nodes and differ from those of the node that answers"`
}

// EtcdMember is the state of a member of etcd.
type EtcdMember struct {
	Endpoint  string     `json:"endpoint"`
	Error     string     `json:"error" doc:"Why it does not answer, or that it finds no leader; otherwise empty"`
	Version   string     `json:"version" doc:"Empty if it does not answer"`
	Leader    store.Flag `json:"leader"`
	LatencyMS int64      `json:"latency_ms"`
	Bytes     int64      `json:"bytes" doc:"Size of its database"`
	Used      int64      `json:"used_bytes" doc:"Bytes of its database that are in use"`
	Quota     int64      `json:"quota_bytes" doc:"Size at which it accepts no more writes; 0 if unknown"`
	Alarms    []string   `json:"alarms"`
}

// Latency returns how long the member took to answer.
func (m *EtcdMember) Latency() time.Duration { return time.Duration(m.LatencyMS) * time.Millisecond }

// OnDuty reports whether this server does what only one node does at a time.
func (s *Server) OnDuty() bool { return s.Config.Cluster == nil || s.Config.Cluster.OnDuty() }

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

// NodeName returns the name of this node, "" for a server that is the only one.
func (s *Server) NodeName() string {
	if s.Config.Cluster == nil {
		return ""
	}
	return s.Config.Cluster.Name()
}

// NodeAccess is the permission of the page of nodes.
const NodeAccess = "system.node"

// NodeRoutes returns the route of the state of all nodes.
func NodeRoutes() []Route {
	return []Route{
		Action("GET", "/system/node", NodeAccess+".query", "List nodes", readNodes, Options{
			Note: "Returns the nodes that share the data and the members of etcd. Nodes that have lost contact are listed for an hour.",
		}),
	}
}

// Applied returns the names of the nodes that have applied the last commit, and of those that have not, or have lost
// contact in the last hour; both are empty with one server. It waits a moment for them.
func (req *Request) Applied() (has, lacks []string) {
	_, number, ok := req.DB.CommitPosition()
	if c := req.Server.Config.Cluster; c != nil && ok {
		has, lacks = c.Applied(req.HTTP.Context(), number)
	}
	return OrEmpty(has), OrEmpty(lacks)
}

func readNodes(req *Request, _ *None) (*NodesState, error) {
	c := req.Server.Config.Cluster
	if c == nil {
		return &NodesState{Nodes: []NodeState{}, Etcd: []EtcdMember{}}, nil
	}
	state, err := c.State(req.HTTP.Context())
	state.Cluster, state.Node = true, c.Name()
	if err != nil {
		state.Error = errs.ForOperator(err).Error()
	}
	return &state, nil
}
