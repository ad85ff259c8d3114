package redis

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Limits of the results of one poll.
const (
	maxTop       = 20 // commands with an event per poll
	maxSlow      = 128
	maxDatabases = 128
	maxKey       = 128 // bytes
	maxText      = 64  // bytes
	maxReason    = 200 // bytes
)

var (
	validCommand  = regexp.MustCompile(`^[A-Za-z0-9._|-]{1,64}$`)
	validDatabase = regexp.MustCompile(`^db\d{1,5}$`)
)

// parseInfo parses the name:value lines of INFO.
func parseInfo(text string) map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":"); ok {
			all[name] = value
		}
	}
	return all
}

// count parses a number that is not negative; it returns 0 for anything else.
func count(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return max(n, 0)
}

// countOf returns the count of a name in a list like a=1,b=2.
func countOf(list, name string) int64 {
	for item := range strings.SplitSeq(list, ",") {
		if value, ok := strings.CutPrefix(item, name+"="); ok {
			return count(value)
		}
	}
	return 0
}

// since returns the increase of a counter, which may have been reset in between.
func since(past, now int64) int64 {
	if now < past {
		return now
	}
	return now - past
}

// compare returns the events of INFO, and keeps it for the next poll. The first poll has
// nothing to compare with: earlier changes may have been recorded by an earlier run.
func (w *watcher) compare(now map[string]string) []Event {
	past := w.past
	switch {
	case past == nil:
		past = now
	case past["run_id"] != now["run_id"] ||
		count(now["uptime_in_seconds"]) < count(past["uptime_in_seconds"]):
		past, w.nextSlow = map[string]string{}, 0 // the server was restarted
	}

	w.past = now

	rise := func(name string) int64 { return since(count(past[name]), count(now[name])) }
	info := &Info{
		Version:          w.target.clean(now["redis_version"], maxText),
		Role:             w.target.clean(now["role"], maxText),
		UptimeSeconds:    count(now["uptime_in_seconds"]),
		ConnectedClients: count(now["connected_clients"]),
		UsedMemory:       count(now["used_memory"]),
		MaxMemory:        count(now["maxmemory"]),
		OpsPerSecond:     count(now["instantaneous_ops_per_sec"]),
		EvictedKeys:      rise("evicted_keys"),
		ExpiredKeys:      rise("expired_keys"),
		Replicas:         count(now["connected_slaves"]),
		Keys:             map[string]int64{},
	}
	if hits, misses := rise("keyspace_hits"), rise("keyspace_misses"); hits > 0 || misses > 0 {
		rate := float64(hits) / (float64(hits) + float64(misses))
		info.HitRate = &rate
	}

	for _, name := range slices.Sorted(maps.Keys(now)) {
		if validDatabase.MatchString(name) && len(info.Keys) < maxDatabases {
			info.Keys[name] = countOf(now[name], "keys")
		}
	}

	return append([]Event{{Type: infoType, Info: info}}, w.costs(past, now)...)
}

// costs returns the commands that took the most time since the last poll.
func (w *watcher) costs(past, now map[string]string) (all []Event) {
	for name, value := range now {
		command, ok := strings.CutPrefix(name, "cmdstat_")
		calls := since(countOf(past[name], "calls"), countOf(value, "calls"))
		if !ok || calls == 0 || !validCommand.MatchString(command) {
			continue
		}
		usec := since(countOf(past[name], "usec"), countOf(value, "usec"))
		all = append(all, Event{
			Type: commandType,
			Command: w.target.clean(strings.ToUpper(strings.ReplaceAll(command, "|", " ")),
				maxText),
			Calls: calls, Usec: usec, UsecPerCall: float64(usec) / float64(calls),
		})
	}
	sort.Slice(all, func(i, j int) bool {
		a, b := all[i], all[j]
		return cmp.Or(cmp.Compare(b.Usec, a.Usec), cmp.Compare(b.Calls, a.Calls),
			cmp.Compare(a.Command, b.Command)) < 0
	})
	return all[:min(len(all), maxTop)]
}
