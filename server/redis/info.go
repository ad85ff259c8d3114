package redis

import (
	"cmp"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// infoLines iterates over the name:value lines of INFO.
func infoLines(text string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for line := range strings.Lines(text) {
			if name, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":"); ok && !yield(name, value) {
				return
			}
		}
	}
}

var validDatabase = regexp.MustCompile(`^db\d{1,5}$`)

// parseInfo parses INFO. It returns the statistics and the totals to compare with the
// next poll.
func (w *watcher) parseInfo(text string) (*Info, totals) {
	info, past := &Info{Keys: map[string]int64{}}, totals{}
	texts := map[string]*string{"redis_version": &info.Version, "role": &info.Role, "run_id": &past.runID}
	numbers := map[string]*int64{
		"uptime_in_seconds": &info.UptimeSeconds, "connected_clients": &info.ConnectedClients, "used_memory": &info.UsedMemory,
		"maxmemory": &info.MaxMemory, "instantaneous_ops_per_sec": &info.OpsPerSecond, "connected_slaves": &info.Replicas,
		"keyspace_hits": &past.hits, "keyspace_misses": &past.misses, "evicted_keys": &past.evicted, "expired_keys": &past.expired,
	}
	for name, value := range infoLines(text) {
		if at := texts[name]; at != nil {
			*at = w.target.clean(value, maxRedisText)
		} else if at := numbers[name]; at != nil {
			*at = parseCount(value)
		} else if validDatabase.MatchString(name) && len(info.Keys) < maxRedisDatabases {
			info.Keys[name] = parseCount(partOf(value, "keys"))
		}
	}
	past.uptime = info.UptimeSeconds
	return info, past
}

// partOf returns the value of a name in a list like a=1,b=2.
func partOf(list, name string) string {
	for item := range strings.SplitSeq(list, ",") {
		if value, ok := strings.CutPrefix(item, name+"="); ok {
			return value
		}
	}
	return ""
}

// parseCount parses a number that is not negative; it returns 0 for anything else.
func parseCount(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return max(n, 0)
}

var validCommand = regexp.MustCompile(`^[A-Za-z0-9._|-]{1,64}$`)

func parseCosts(text string) map[string]commandCost {
	all := map[string]commandCost{}
	for name, value := range infoLines(text) {
		name, ok := strings.CutPrefix(name, "cmdstat_")
		if ok && validCommand.MatchString(name) && len(all) < maxRedisCommands {
			all[name] = commandCost{parseCount(partOf(value, "calls")), parseCount(partOf(value, "usec"))}
		}
	}
	return all
}

// costs returns the commands that took the most time since the last poll; nil if there
// was no poll before.
func (w *watcher) costs(now, past map[string]commandCost) []Event {
	if past == nil {
		return nil
	}
	var all []Event
	for name, n := range now {
		p := past[name]
		if n.calls < p.calls || n.usec < p.usec {
			p = commandCost{} // CONFIG RESETSTAT
		}
		if calls, usec := n.calls-p.calls, n.usec-p.usec; calls > 0 {
			all = append(all, Event{
				Type: commandType, Command: w.target.clean(strings.ToUpper(strings.ReplaceAll(name, "|", " ")), maxRedisText),
				Calls: calls, Usec: usec, UsecPerCall: float64(usec) / float64(calls),
			})
		}
	}
	slices.SortFunc(all, func(a, b Event) int {
		return cmp.Or(cmp.Compare(b.Usec, a.Usec), cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Command, b.Command))
	})
	return all[:min(len(all), maxRedisTop)]
}
