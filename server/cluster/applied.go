package cluster

import (
	"context"
	"slices"
	"time"
)

// appliedTimeout is the time for which Applied waits: nodes report each second what they have applied.
const appliedTimeout = reportEvery + 500*time.Millisecond

// Applied implements web.Cluster.
func (n *Node) Applied(ctx context.Context, number uint64) (has, lacks []string) {
	wait, cancel := context.WithTimeout(ctx, appliedTimeout)
	defer cancel()
	for {
		nodes, err := n.current(wait)
		if err == nil {
			has, lacks = []string{n.options.Name}, nil
		}
		for _, one := range nodes {
			if one.Applied < number && !one.Self {
				lacks = append(lacks, one.Name)
			} else {
				has = append(has, one.Name)
			}
		}
		if err == nil && len(lacks) == 0 {
			break
		}
		select {
		case <-wait.Done():
		case <-time.After(50 * time.Millisecond):
			continue
		}
		break
	}
	if has == nil { // etcd does not answer
		has = []string{n.options.Name}
	}
	state, _ := n.State(ctx) // has the nodes as they were seen last, also with an error
	for _, one := range state.Nodes {
		if !slices.Contains(has, one.Name) {
			lacks = append(lacks, one.Name)
		}
	}
	return withoutEqual(slices.DeleteFunc(has, func(name string) bool { return slices.Contains(lacks, name) })), withoutEqual(lacks)
}

// withoutEqual returns names in order, each once.
func withoutEqual(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}
