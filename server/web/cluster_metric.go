package web

import (
	"time"

	"reeve/store/kv"
)

// NodeFigures are figures of the work of a node.
type NodeFigures struct {
	Log      kv.CommitLogState
	Answers  kv.Distribution // duration of answers of etcd, in nanoseconds
	Answered time.Duration   // time since the last question that etcd has answered; negative before the first
	Live     int             // nodes in contact
	Duties   bool            // whether this node has the duties
}

// WriteNodeMetrics writes the metrics of a node, which servers that are the only one don't have.
func WriteNodeMetrics(out *Samples, f *NodeFigures, s *NodesState) {
	out.begin("reeve_cluster_entries_total", "counter", "Commits of this node by outcome: won ones are in the log, lost ones ran again after that of another node.")
	out.counter(labels("outcome", "won"), f.Log.Won)
	out.counter(labels("outcome", "lost"), f.Log.Lost)
	out.counter(labels("outcome", "unknown"), f.Log.Unknown)
	out.begin("reeve_cluster_applied_total", "counter", "Commits of other nodes that were applied.")
	out.counter("", f.Log.Applied)
	out.begin("reeve_cluster_append_seconds", "histogram", "Duration of appends of this node to the log in etcd, turns of other nodes included.")
	out.Histogram("", f.Log.Appends, Seconds)
	out.begin("reeve_cluster_apply_seconds", "histogram", "Duration of the commits with which this node applies those of others.")
	out.Histogram("", f.Log.Applies, Seconds)
	one := func(name, help string, value float64) {
		out.begin(name, "gauge", help)
		out.gauge("", value)
	}
	one("reeve_cluster_entry", "Number of the last commit that this node has applied.", float64(f.Log.At.Number))
	one("reeve_cluster_behind", "Number of commits in the log that this node has not applied.", float64(behind(s.Number, f.Log.At.Number)))
	if f.Answered >= 0 {
		one("reeve_cluster_answer_age_seconds", "Time since the last question that etcd has answered.", f.Answered.Seconds())
	}
	out.begin("reeve_cluster_answer_seconds", "histogram", "Duration of the answers of etcd to the question that allows a node to serve.")
	out.Histogram("", f.Answers, Seconds)
	one("reeve_cluster_nodes", "Nodes in contact with etcd.", float64(f.Live))
	duties := 0.0
	if f.Duties {
		duties = 1
	}
	one("reeve_cluster_duties", "1 if this node does what only one node does at a time, else 0.", duties)
	one("reeve_cluster_base_entry", "Number of the last commit in the newest base copy.", float64(s.Base))
	if s.BaseAt != 0 {
		one("reeve_cluster_base_age_seconds", "Age of the newest base copy.", time.Since(s.BaseAt.Std()).Seconds())
	}
	member := func(name, help string, value func(*EtcdMember) int64) {
		out.begin(name, "gauge", help)
		for i := range s.Etcd {
			if m := &s.Etcd[i]; m.Error == "" {
				out.gauge(labels("member", m.Endpoint), float64(value(m)))
			}
		}
	}
	member("reeve_etcd_bytes", "Size of the database of a member of etcd.", func(m *EtcdMember) int64 { return m.Bytes })
	member("reeve_etcd_used_bytes", "Bytes in use in the database of a member of etcd.", func(m *EtcdMember) int64 { return m.Used })
	member("reeve_etcd_quota_bytes", "Size at which a member of etcd accepts no more writes; 0 if it does not say.", func(m *EtcdMember) int64 { return m.Quota })
	out.begin("reeve_etcd_up", "gauge", "0 if a member of etcd does not answer or finds no leader, else 1.")
	for _, m := range s.Etcd {
		up := 1.0
		if m.Error != "" {
			up = 0
		}
		out.gauge(labels("member", m.Endpoint), up)
	}
}

// behind returns the number of entries up to a number that are not applied.
func behind(number, applied uint64) uint64 { return max(number, applied) - applied }
