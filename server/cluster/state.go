package cluster

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/etcd"
	"reeve/store/kv"
)

const (
	stateEvery   = 3 * time.Second // time for which an answer about all nodes counts
	stateTimeout = 3 * time.Second
	goneKept     = time.Hour // time for which a node that has lost contact is shown
)

// answerBounds are in nanoseconds.
var answerBounds = []int64{500e3, 1e6, 2e6, 5e6, 10e6, 25e6, 50e6, 100e6, 250e6, 500e6, 1e9}

// seen is the last answer of etcd about all nodes.
type seen struct {
	mu    sync.Mutex
	at    time.Time
	state web.NodesState
	err   error
	nodes map[string]lastContact // nodes by name
}

// lastContact is a node as it was when it had contact.
type lastContact struct {
	at   time.Time
	node web.NodeState
}

// Name implements web.Cluster.
func (n *Node) Name() string { return n.options.Name }

// State returns the state of the cluster, at most a few seconds old.
func (n *Node) State(ctx context.Context) (web.NodesState, error) {
	n.seen.mu.Lock()
	defer n.seen.mu.Unlock()
	if time.Since(n.seen.at) >= stateEvery {
		n.see(context.WithoutCancel(ctx)) // others wait for the answer, too
		n.seen.at = time.Now()
	}
	s := n.seen.state
	if s.Heard = n.answeredAt(time.Now()); n.db != nil {
		state, _ := n.db.CommitLog()
		s.Applied = state.At.Number
	}
	s.Nodes, s.Etcd = slices.Clone(s.Nodes), slices.Clone(s.Etcd)
	return s, n.seen.err
}

// see asks etcd for the state, for seen, which is locked.
func (n *Node) see(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, stateTimeout)
	defer cancel()
	n.seen.state, n.seen.err = n.askState(ctx)
	n.seen.remember(time.Now())
}

// look sees which nodes there are, so that State knows them when etcd does not answer any more.
func (n *Node) look(ctx context.Context) error {
	n.seen.mu.Lock()
	defer n.seen.mu.Unlock()
	n.see(ctx)
	n.seen.at = time.Time{}
	return nil
}

// answeredAt returns the time of the last question that etcd has answered; 0 before the first.
func (n *Node) answeredAt(now time.Time) (at store.Time) {
	n.beats.mu.Lock()
	defer n.beats.mu.Unlock()
	if len(n.beats.all) > 0 {
		at = timeOf(now.Add(n.beats.all[0].asked - sinceBoot()))
	}
	return at
}

// askState asks etcd for the state of the cluster.
func (n *Node) askState(ctx context.Context) (web.NodesState, error) {
	s := web.NodesState{Cluster: true, Node: n.options.Name, Nodes: []web.NodeState{}, Etcd: []web.EtcdMember{}}
	for _, m := range n.etcd.Members(ctx) {
		s.Etcd = append(s.Etcd, memberState(m))
	}
	base, head, err := n.etcd.Base(ctx)
	if err != nil {
		return s, err
	}
	s.Epoch, s.Number, s.Base, s.BaseAt = head.Epoch, head.Number, base.Number, timeOf(base.At)
	nodes, err := n.etcd.Nodes(ctx)
	if err != nil {
		return s, err
	}
	keys, err := n.summaryKeys()
	if err != nil {
		n.options.Log("read what nodes say about themselves", err)
	}
	var own map[string]string
	if len(keys) > 0 {
		own = n.configHashes(keys[0])
	}
	beat, err := n.etcd.Beat(ctx)
	for _, one := range nodes {
		state := nodeState(one, keys, own)
		state.Duties, state.Self = one.Lease == beat.Duty, store.Flag(one.Lease == n.etcd.Lease())
		s.Number = max(s.Number, one.Applied) // the node has applied it after the question for the head
		s.Nodes = append(s.Nodes, state)
	}
	s.Nodes = withoutReplaced(s.Nodes)
	for i := range s.Nodes {
		s.Nodes[i].Behind = s.Number - s.Nodes[i].Applied
	}
	slices.SortStableFunc(s.Nodes, func(a, b web.NodeState) int { return strings.Compare(a.Name, b.Name) })
	return s, err
}

// current returns the nodes that have a key, without those that were replaced.
func (n *Node) current(ctx context.Context) (all []web.NodeState, err error) {
	nodes, err := n.etcd.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	keys, err := n.summaryKeys()
	for _, one := range nodes {
		state := nodeState(one, keys, nil)
		state.Self = one.Lease == n.etcd.Lease()
		all = append(all, state)
	}
	return withoutReplaced(all), err
}

// withoutReplaced returns the nodes without those that have reported nothing since another one of the same name has
// started: they were killed, and their leases have not ended yet.
func withoutReplaced(all []web.NodeState) []web.NodeState {
	left := []web.NodeState{}
	for i := range all {
		replaced := false
		for j := range all {
			replaced = replaced || all[i].ReportedAt != 0 && all[j].Name == all[i].Name && all[j].StartedAt > all[i].ReportedAt
		}
		if !replaced {
			left = append(left, all[i])
		}
	}
	return left
}

func nodeState(one *etcd.Node, keys [][]byte, own map[string]string) web.NodeState {
	state := web.NodeState{
		Name:    one.Name,
		Version: one.Version,
		Applied: one.Applied,
		Contact: true,
		Free:    -1,
		Differs: []string{},
	}
	said, err := openSummary(keys, one.Sealed)
	if err != nil {
		return state // ReportedAt is zero, which says so
	}
	state.ReportedAt, state.StartedAt, state.Schema = timeOf(said.At), timeOf(said.Started), said.Schema
	state.Free, state.Data, state.Differs = said.Free, said.Data, differing(own, said.Config)
	return state
}

// remember adds the nodes that have lost contact to the state. When etcd does not answer, these are all.
func (s *seen) remember(now time.Time) {
	if s.nodes == nil {
		s.nodes = map[string]lastContact{}
	}
	if s.err != nil {
		s.state.Nodes = []web.NodeState{}
	}
	for _, n := range s.state.Nodes {
		s.nodes[n.Name] = lastContact{now, n}
	}
	for name, last := range s.nodes {
		switch {
		case last.at.Equal(now):
		case now.Sub(last.at) >= goneKept:
			delete(s.nodes, name)
		default:
			gone := last.node
			gone.Contact, gone.Duties = false, false
			gone.Self = gone.Self && store.Flag(s.err != nil)
			gone.Behind = s.state.Number - min(s.state.Number, gone.Applied)
			s.state.Nodes = append(s.state.Nodes, gone)
		}
	}
	slices.SortStableFunc(s.state.Nodes, func(a, b web.NodeState) int { return strings.Compare(a.Name, b.Name) })
}

func memberState(m etcd.Member) web.EtcdMember {
	out := web.EtcdMember{
		Endpoint:  m.Endpoint,
		Version:   m.Version,
		Leader:    store.Flag(m.Leader),
		LatencyMS: m.Latency.Milliseconds(),
		Bytes:     m.Size,
		Used:      m.Used,
		Quota:     m.Quota,
		Alarms:    append([]string{}, m.Faults...),
	}
	switch {
	case m.Err != nil:
		out.Error = m.Err.Error()
	case m.Alone:
		out.Error = etcd.ErrNoLeader.Error()
	}
	return out
}

func timeOf(t time.Time) (at store.Time) {
	if !t.IsZero() {
		at = kv.TimeOf(t)
	}
	return at
}

// Health implements web.Cluster.
func (n *Node) Health() web.Part {
	state, err := n.State(context.Background())
	return web.NodesHealth(&state, n.Serving(), err, time.Now())
}

// WriteMetrics implements web.Cluster.
func (n *Node) WriteMetrics(out *web.Samples) {
	state, _ := n.State(context.Background()) // the metrics of etcd have no samples if it does not answer
	f := web.NodeFigures{Answers: n.beats.took.Read(), Answered: -1, Live: n.Live(), Duties: n.OnDuty()}
	f.Log, _ = n.db.CommitLog()
	n.beats.mu.Lock()
	if len(n.beats.all) > 0 {
		f.Answered = sinceBoot() - n.beats.all[0].asked
	}
	n.beats.mu.Unlock()
	web.WriteNodeMetrics(out, &f, &state)
}

// Print writes the state of all nodes as text.
func (n *Node) Print(out io.Writer, s web.NodesState) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	base := ""
	if s.BaseAt != 0 {
		base = ", made " + ago(s.BaseAt)
	}
	switch {
	case s.Error == "":
		fmt.Fprintf(out, "epoch %s, entry %d, base copy at entry %d%s\n\n", s.Epoch, s.Number, s.Base, base)
	case s.Heard != 0:
		fmt.Fprintf(out, "node %s has applied entry %d; etcd has last answered it %s, and the nodes were seen last as below\n\n", printable(s.Node), s.Applied, ago(s.Heard))
	default:
		fmt.Fprintf(out, "node %s has applied entry %d; it does not run\n\n", printable(s.Node), s.Applied)
	}
	fmt.Fprintln(w, "NODE\tCONTACT\tVERSION\tSCHEMA\tAPPLIED\tBEHIND\tREPORTED\tSTARTED\tDUTIES\tMIB FREE\tMIB DATA\tCONFIGURATION")
	for _, one := range s.Nodes {
		config, free := "equal", "-"
		if len(one.Differs) > 0 {
			config = "differs: " + strings.Join(one.Differs, ", ")
		}
		if one.Free >= 0 {
			free = fmt.Sprint(one.Free >> 20)
		}
		if one.ReportedAt == 0 {
			config = "unknown: its report can't be read with the secret.key here"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%d\t%s\t%s\t%s\t%s\t%d\t%s\n", printable(one.Name), yes(bool(one.Contact)), printable(one.Version), one.Schema,
			one.Applied, one.Behind, ago(one.ReportedAt), ago(one.StartedAt), yes(bool(one.Duties)), free, one.Data>>20, printable(config))
	}
	fmt.Fprintln(w, "\nETCD\tVERSION\tLEADER\tANSWER\tMIB USED\tMIB FILE\tMIB QUOTA\tPROBLEM")
	for _, m := range s.Etcd {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%d\t%d\t%s\n", m.Endpoint, m.Version, yes(bool(m.Leader)), m.Latency(), m.Used>>20, m.Bytes>>20,
			m.Quota>>20, printable(strings.Join(append(slices.Clone(m.Alarms), m.Error), " ")))
	}
	return w.Flush()
}

// ago returns the age of a time, with one unit.
func ago(t store.Time) string {
	age := time.Since(t.Std())
	switch {
	case t == 0:
		return "-"
	case age < 2*time.Minute:
		return fmt.Sprintf("%d s ago", max(0, int(age.Seconds())))
	case age < 2*time.Hour:
		return fmt.Sprintf("%d min ago", int(age.Minutes()))
	}
	return fmt.Sprintf("%d h ago", int(age.Hours()))
}

// printable replaces control characters of a text.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return "-"
}
