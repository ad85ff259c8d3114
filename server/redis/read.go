package redis

import (
	"errors"
	"strings"

	"github.com/gomodule/redigo/redis"
)

// Limits of the results of one poll.
const (
	maxRedisTop       = 20   // commands with an event per poll
	maxRedisCommands  = 2000 // remembered commands; Redis has about 400
	maxRedisSlow      = 128
	maxRedisDatabases = 128
	maxRedisKey       = 128 // bytes
	maxRedisText      = 64  // bytes
)

// replies holds the replies of one poll. If the server rejects a command, stats is
// empty or slow is nil.
type replies struct {
	info, stats string
	slow        []any
	refused     []string
}

// totals are the counters that the next poll is compared with.
type totals struct {
	runID                          string // changes when the server restarts
	uptime                         int64
	hits, misses, evicted, expired int64
	commands                       map[string]commandCost // nil until the server has returned them
	slowID                         int64                  // highest ID seen; -1 for none
	slowKnown                      bool                   // whether slowID is valid
}

// commandCost is the total cost of the executions of a command.
type commandCost struct{ calls, usec int64 }

// ask sends the commands of a poll. All are read-only.
func (w *watcher) ask() (*replies, error) {
	r := &replies{}
	var err error
	if r.info, err = redis.String(w.conn.Do("INFO")); err != nil {
		return nil, err
	}
	if !strings.Contains(r.info, "redis_version:") {
		return nil, errRedisProtocol
	}
	// Providers of managed Redis may forbid these two commands.
	if r.stats, err = redis.String(w.conn.Do("INFO", "COMMANDSTATS")); err != nil && !r.refuse(err, "INFO COMMANDSTATS") {
		return nil, err
	}
	if r.slow, err = redis.Values(w.conn.Do("SLOWLOG", "GET", maxRedisSlow)); err != nil && !r.refuse(err, "SLOWLOG") {
		return nil, err
	}
	return r, nil
}

// refuse records a command that the server rejects. It reports false if err is another
// error.
func (r *replies) refuse(err error, command string) bool {
	var answer redis.Error
	if !errors.As(err, &answer) {
		return false
	}
	r.refused = append(r.refused, command)
	return true
}

// events converts the replies to events and stores their totals for the next poll. The
// first poll only initializes the counters: earlier changes may have been recorded by
// an earlier run.
func (w *watcher) events(r *replies) []Event {
	info, now := w.parseInfo(r.info)
	past := w.past
	switch {
	case past == nil:
		past = &totals{hits: now.hits, misses: now.misses, evicted: now.evicted, expired: now.expired, slowID: -1}
	case past.runID != now.runID || now.uptime < past.uptime:
		// The server was restarted, which reset its counters.
		past = &totals{commands: map[string]commandCost{}, slowID: -1, slowKnown: true}
	}
	w.past = &now
	hits, misses := difference(now.hits, past.hits), difference(now.misses, past.misses)
	if hits > 0 || misses > 0 {
		rate := float64(hits) / (float64(hits) + float64(misses))
		info.HitRate = &rate
	}
	info.EvictedKeys, info.ExpiredKeys = difference(now.evicted, past.evicted), difference(now.expired, past.expired)
	all := []Event{{Type: infoType, Info: info}}
	if len(r.refused) > 0 {
		all[0].Error = "it refuses " + strings.Join(r.refused, " and ")
	}
	if now.commands = past.commands; r.stats != "" {
		now.commands = parseCosts(r.stats)
		all = append(all, w.costs(now.commands, past.commands)...)
	}
	if now.slowID, now.slowKnown = past.slowID, past.slowKnown; r.slow != nil {
		all = append(all, w.slow(r.slow, &now)...)
	}
	return all
}

// difference returns the increase of a counter, which may have been reset in between.
func difference(now, past int64) int64 {
	if now < past {
		return now
	}
	return now - past
}
