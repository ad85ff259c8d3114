package web

import (
	"slices"
	"strings"
	"time"

	"reeve/store/errs"
)

// From these values on, the health of the nodes is degraded.
const (
	farBehind = 1000      // entries that a node has not reported
	fullQuota = 80        // percent of the quota of etcd
	oldBase   = time.Hour // age of the newest base copy while there are new entries
)

// NodesHealth returns the state of all nodes as a component, as seen by a node. refused is why it must not
// answer requests, and asked why etcd has not told the state; nil if it may and has.
func NodesHealth(s *NodesState, refused, asked error, now time.Time) Part {
	p := Part{Name: "cluster", State: Healthy, Figures: nodesFigures(s)}
	note := func(state string, m errs.Message) {
		if p.State != Failed {
			p.State = state
		}
		if p.Message.Empty() {
			p.Message = m
		} else {
			p.Message = errs.Say("%s; %s", p.Message, m)
		}
	}

	if refused != nil {
		note(Failed, errs.Of(refused).Msg)
	}
	silent, alone, alarms, quota := membersState(s)
	if len(alarms) > 0 {
		note(Failed, errs.Say("etcd has raised an alarm: %s; see several-nodes in the manual", alarms))
	}
	if len(alone) > 0 {
		state := Degraded
		if asked != nil {
			state = Failed
		}
		note(state, errs.Say("members of etcd find no leader, which needs a majority of all members in contact: %s", alone))
	}
	if asked != nil {
		if len(alone) > 0 {
			if len(silent) > 0 {
				note(Failed, errs.Say("members of etcd do not answer: %s", silent))
			}
			return p
		}
		text, _, _ := strings.Cut(errs.ForOperator(asked).Error(), "\n")
		note(Failed, errs.Say("etcd does not answer: %s", text))
		return p
	}
	if len(silent) > 0 {
		note(Degraded, errs.Say("members of etcd do not answer: %s", silent))
	}
	if quota >= fullQuota {
		note(Degraded, errs.Say("the database of etcd has %d %% of its quota: defragment it, or raise the quota", quota))
	}
	noteNodes(s, note)
	if s.BaseAt != 0 && s.Number > s.Base && now.Sub(s.BaseAt.Std()) >= oldBase {
		note(Degraded, errs.Say("there is no new base copy since %s: nodes that start take longer, and etcd fills up", s.BaseAt.Std().Format(time.RFC3339)))
		p.Since = s.BaseAt
	}
	if p.Message.Empty() {
		p.Message = errs.Say("%d nodes are in contact", int(p.Figures["nodes"]))
	}
	return p
}

// noteNodes notes what is to be said about the nodes.
func noteNodes(s *NodesState, note func(state string, m errs.Message)) {
	holder := false
	var gone, behind, versions, differing []string
	for _, n := range s.Nodes {
		holder = holder || bool(n.Duties)
		switch {
		case !bool(n.Contact):
			name := n.Name
			if n.ReportedAt != 0 {
				name += " (" + n.ReportedAt.Std().Format(time.RFC3339) + ")"
			}
			gone = append(gone, name)
			continue
		case n.Behind >= farBehind:
			behind = append(behind, n.Name)
		}
		if !slices.Contains(versions, n.Version) {
			versions = append(versions, n.Version)
		}
		if len(n.Differs) > 0 {
			differing = append(differing, n.Name+" ("+strings.Join(n.Differs, ", ")+")")
		}
	}
	if len(gone) > 0 {
		note(Degraded, errs.Say("nodes have lost contact within the last hour, with the time of the last report: %s", gone))
	}
	if len(behind) > 0 {
		note(Degraded, errs.Say("nodes are more than %d entries behind: %s", farBehind, behind))
	}
	if len(versions) > 1 {
		note(Degraded, errs.Say("the nodes run several versions: %s", versions))
	}
	if len(differing) > 0 {
		note(Degraded, errs.Say("the configuration of nodes differs from that of this one: %s", differing))
	}
	if !holder {
		note(Degraded, errs.Say("no node has the duties: mails, webhooks, jobs and base copies wait"))
	}
}

// membersState returns the members of etcd that do not answer, those that find no leader, the alarms, and the
// highest percentage of a quota.
func membersState(s *NodesState) (silent, alone, alarms []string, quota int64) {
	for _, m := range s.Etcd {
		switch {
		case m.Error != "" && m.Version != "":
			alone = append(alone, m.Endpoint)
		case m.Error != "":
			silent = append(silent, m.Endpoint)
		}
		for _, alarm := range m.Alarms {
			if !slices.Contains(alarms, alarm) {
				alarms = append(alarms, alarm)
			}
		}
		if m.Quota > 0 {
			quota = max(quota, m.Bytes*100/m.Quota)
		}
	}
	return silent, alone, alarms, quota
}

func nodesFigures(s *NodesState) map[string]int64 {
	figures := map[string]int64{"nodes": 0, "entries": int64(s.Number), "base_entry": int64(s.Base), "members": int64(len(s.Etcd))}
	for _, n := range s.Nodes {
		if n.Contact {
			figures["nodes"]++
		}
		if n.Self {
			figures["behind_entries"] = int64(n.Behind)
		}
	}
	for _, m := range s.Etcd {
		figures["etcd_bytes"] = max(figures["etcd_bytes"], m.Bytes)
		figures["etcd_quota_bytes"] = max(figures["etcd_quota_bytes"], m.Quota)
		figures["etcd_ms"] = max(figures["etcd_ms"], m.LatencyMS)
	}
	return figures
}
