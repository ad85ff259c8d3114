package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"reeve/store/copies"
	"reeve/store/etcd"
)

// States of a check, as those of components.
const (
	good     = "ok"
	doubtful = "degraded"
	bad      = "failed"
)

const (
	oldestMajor, oldestMinor = 3, 4 // version of etcd
	clockSlack               = 2 * time.Second
	fullQuota                = 80 // percent
)

// Check examines what this node needs, and calls found for each check, with advice if something is to be
// done. It does not need the database.
func (n *Node) Check(ctx context.Context, found func(name, state, text, do string)) {
	members := n.etcd.Members(ctx)
	checkMembers(members, found)
	checkQuota(members, found)
	if !slices.ContainsFunc(members, func(m etcd.Member) bool { return m.Err == nil && !m.Alone }) {
		return
	}
	n.checkCompaction(ctx, found)
	nodes, fault := n.etcd.Nodes(ctx) // before the head, which is then not behind any of them
	asked := time.Now()
	base, head, err := n.etcd.Base(ctx)
	err = errors.Join(err, fault)
	switch {
	case errors.Is(err, etcd.ErrNoHead):
		do := "see cluster.prefix and cluster.etcd; `reeve cluster init` begins a cluster. If there was one, etcd was emptied or replaced"
		if known, err := remember(n.options.Dir); err != nil || known.Etcd != 0 { // Init refuses these data
			do = "see cluster.prefix and cluster.etcd. " + takeFromNode
		}
		found("cluster log", bad, "etcd has no log of commits below this prefix", do)
		return
	case err != nil:
		found("cluster log", bad, err.Error(), "the file cluster in the data directory names the etcd that the data belong to: see cluster.etcd")
		return
	}
	found("cluster log", good, fmt.Sprintf("epoch %s, entry %d, base copy at entry %d", head.Epoch, head.Number, base.Number), "")
	n.checkBase(ctx, base, found)
	n.checkNodes(nodes, asked, head, func() ([]*etcd.Node, error) {
		select {
		case <-ctx.Done():
		case <-time.After(2*reportEvery + clockSlack/2):
		}
		return n.etcd.Nodes(ctx)
	}, found)
}

// takeFromNode is the advice for a node with data of a cluster that etcd does not know.
const takeFromNode = "This node has data of a cluster: if etcd was emptied or replaced, stop all nodes and compare them with `reeve cluster restore --from-node`, see several-nodes in the manual"

func checkMembers(members []etcd.Member, found func(name, state, text, do string)) {
	silent, alone, faults, old := []string{}, []string{}, []string{}, []string{}
	for _, m := range members {
		switch {
		case m.Err != nil:
			silent = append(silent, m.Endpoint+": "+m.Err.Error())
		case !newEnough(m.Version):
			old = append(old, m.Endpoint+" "+m.Version)
		}
		if m.Alone {
			alone = append(alone, m.Endpoint)
		}
		faults = append(faults, m.Faults...)
	}
	switch {
	case !slices.ContainsFunc(members, func(m etcd.Member) bool { return !errors.Is(m.Err, etcd.ErrCluster) }):
		found("etcd", bad, strings.Join(silent, "; "), "see cluster.etcd. "+takeFromNode)
	case len(silent) == len(members):
		found("etcd", bad, "no member answers: "+strings.Join(silent, "; "), "see that etcd runs, and cluster.etcd, certificates and the network")
	case len(silent)+len(alone) == len(members):
		text := "etcd has no majority, and no leader: these members answer: " + strings.Join(alone, ", ")
		if len(silent) > 0 {
			text += "; these do not: " + strings.Join(silent, "; ")
		}
		found("etcd", bad, text, "start members that do not answer, and see that the members reach each other: more than half of all must be in contact; see several-nodes in the manual")
	case len(alone) > 0:
		found("etcd", doubtful, strings.Join(append(alone, silent...), "; ")+": without contact to the leader", "start these members again, and see that they reach the others")
	case len(silent) > 0:
		found("etcd", doubtful, strings.Join(silent, "; "), "start these members again: a majority must answer")
	default:
		found("etcd", good, fmt.Sprintf("%d members answer, the slowest after %s", len(members), slowest(members)), "")
	}
	if len(old) > 0 {
		found("etcd version", bad, strings.Join(old, ", "), fmt.Sprintf("update etcd: Reeve needs %d.%d or newer", oldestMajor, oldestMinor))
	} else if len(silent) < len(members) {
		found("etcd version", good, versions(members), "")
	}
	if len(faults) > 0 {
		found("etcd alarms", bad, strings.Join(faults, "; "),
			"NOSPACE: raise --quota-backend-bytes or defragment, then `etcdctl alarm disarm`. CORRUPT: replace the member that it names")
	}
}

// newEnough reports whether Reeve works with a version of etcd.
func newEnough(version string) bool {
	var major, minor int
	if _, err := fmt.Sscanf(version, "%d.%d", &major, &minor); err != nil {
		return false
	}
	return major > oldestMajor || major == oldestMajor && minor >= oldestMinor
}

func slowest(members []etcd.Member) (most time.Duration) {
	for _, m := range members {
		most = max(most, m.Latency)
	}
	return most.Round(100 * time.Microsecond)
}

func versions(members []etcd.Member) string {
	var all []string
	for _, m := range members {
		if m.Err == nil && !slices.Contains(all, m.Version) {
			all = append(all, m.Version)
		}
	}
	return strings.Join(all, ", ")
}

func checkQuota(members []etcd.Member, found func(name, state, text, do string)) {
	for _, m := range members {
		if m.Err != nil {
			continue
		}
		text := fmt.Sprintf("%s: %d MiB, of which %d MiB are in use", m.Endpoint, m.Size>>20, m.Used>>20)
		if m.Quota > 0 {
			text += fmt.Sprintf("; no more writes from %d MiB on", m.Quota>>20)
		}
		if m.Quota == 0 || m.Size*100/m.Quota < fullQuota {
			found("etcd space", good, text, "")
			continue
		}
		do := "raise --quota-backend-bytes at all members (2 GiB unless it is given)"
		if m.Used*100/m.Quota < fullQuota {
			do = "the file keeps the size that it once had: `etcdctl defrag` at one member after another gives the unused space back; a member answers nothing while it runs"
		}
		found("etcd space", doubtful, text, do)
	}
}

func (n *Node) checkCompaction(ctx context.Context, found func(name, state, text, do string)) {
	switch err := n.etcd.MayCompact(ctx); {
	case err == nil:
		found("etcd history", good, "Reeve lets etcd forget old revisions with each base copy", "")
	case errors.Is(err, etcd.ErrNoCompaction):
		found("etcd history", doubtful, "the user of etcd may not let it forget old revisions",
			"give it the role root, or start etcd with --auto-compaction-mode=periodic --auto-compaction-retention=1h, in which case this is no problem")
	default:
		found("etcd history", doubtful, err.Error(), "run this again")
	}
}

// checkBase checks that the bucket has the base copy from which nodes start.
func (n *Node) checkBase(ctx context.Context, base etcd.Base, found func(name, state, text, do string)) {
	all, err := n.options.Bucket.List(ctx, base.Name)
	switch {
	case err != nil:
		found("base copy", bad, "the bucket does not answer: "+err.Error(), "see files.s3 in the configuration, and the bucket")
	case !slices.ContainsFunc(all, func(o copies.Object) bool { return o.Name == base.Name }):
		found("base copy", bad, "the bucket lacks "+base.Name+": no node can start without data",
			"keep one node running, which makes another copy; nothing but Reeve must delete objects in the bucket")
	default:
		found("base copy", good, fmt.Sprintf("the bucket has that of entry %d, made %s", base.Number, ago(timeOf(base.At))), "")
	}
}

// checkNodes checks secret.key, and what the nodes say about themselves. again returns the nodes a few seconds
// later: a report that is old is one of a node that does not report any more, or whose clock is behind.
func (n *Node) checkNodes(nodes []*etcd.Node, asked time.Time, head etcd.Position, again func() ([]*etcd.Node, error),
	found func(name, state, text, do string)) {
	if _, err := os.Stat(filepath.Join(n.options.Dir, "secret.key")); err != nil {
		found("cluster key", bad, err.Error(), "copy secret.key from the data directory of another node")
		return
	}
	keys, err := n.summaryKeys()
	if err != nil && !errors.Is(err, os.ErrNotExist) { // without data, there is no installation yet
		found("cluster key", bad, err.Error(), "copy secret.key from the data directory of another node")
		return
	}
	unread, ahead, silent, clocks, differ := []string{}, []string{}, []string{}, []string{}, []string{}
	late := map[etcd.Lease]*summary{}
	var own map[string]string
	if len(keys) > 0 {
		own = n.configHashes(keys[0])
	}
	slack := clockSlack + reportEvery
	for _, one := range nodes {
		if one.Applied > head.Number {
			ahead = append(ahead, one.Name)
		}
		said, err := openSummary(keys, one.Sealed)
		if err != nil {
			unread = append(unread, one.Name)
			continue
		}
		switch off := asked.Sub(said.At); {
		case off > slack:
			late[one.Lease] = said
		case off < -clockSlack:
			clocks = append(clocks, fmt.Sprintf("%s by %s", one.Name, off.Round(time.Second)))
		}
		if names := differing(own, said.Config); len(names) > 0 {
			differ = append(differ, one.Name+" ("+strings.Join(names, ", ")+")")
		}
	}
	if len(late) > 0 {
		later, err := again()
		if err != nil {
			later = nodes
		}
		reports := map[etcd.Lease][]byte{}
		for _, one := range later {
			reports[one.Lease] = one.Sealed
		}
		for _, one := range nodes {
			said := late[one.Lease]
			switch {
			case said == nil:
			case reports[one.Lease] == nil || bytes.Equal(reports[one.Lease], one.Sealed):
				silent = append(silent, one.Name+" since "+said.At.Local().Format(time.DateTime))
			default:
				clocks = append(clocks, fmt.Sprintf("%s by %s", one.Name, asked.Sub(said.At).Round(time.Second)))
			}
		}
	}
	check := func(name string, all []string, state, text, do, fine string) {
		if len(all) > 0 {
			found(name, state, text+strings.Join(all, ", "), do)
		} else {
			found(name, good, fine, "")
		}
	}
	if len(keys) > 0 {
		check("cluster key", unread, bad, "secret.key does not open the reports of ", "copy secret.key from the data directory of one of these nodes", "secret.key is that of the nodes")
	}
	check("cluster data", ahead, bad, "the log in etcd is behind ", "etcd was set back, as by a restore of a snapshot: see several-nodes in the manual", "no node is ahead of the log")
	check("cluster nodes", silent, doubtful, "nodes do not report any more: ", "start them again, or see that they reach etcd", "all nodes in contact report")
	check("cluster clocks", clocks, doubtful, "clocks differ from that of this machine: ", "synchronize the clocks of all machines, with chrony for example", "the clocks of the nodes agree")
	check("cluster configuration", differ, doubtful, "values differ from those here: ", "give these keys the same values at all nodes, and restart or reload them", "what must be the same at all nodes is")
}
