package redis

import (
	"errors"
	"strings"

	"github.com/gomodule/redigo/redis"
)

// Bounds of what is made of one poll.
const (
	maxRedisTop       = 20   // commands in events
	maxRedisCommands  = 2000 // commands remembered; Redis itself has about 400
	maxRedisSlow      = 128
	maxRedisDatabases = 128
	maxRedisKey       = 128 // bytes
	maxRedisText      = 64  // bytes
)

// replies are the answers of one poll; stats is empty and slow nil where the
// server does not let us ask.
type replies struct {
	info, stats string
	slow        []any
	refused     []string
}

// totals is what the next poll is compared with.
type totals struct {
	runID                          string // another one after a restart
	uptime                         int64
	hits, misses, evicted, expired int64
	commands                       map[string]commandCost // nil before they could be asked
	slowID                         int64                  // the greatest seen; -1 for none
	slowAsked                      bool                   // else slowID says nothing yet
}

// commandCost is what the executions of a command cost together.
type commandCost struct{ calls, usec int64 }

// ask sends what is to be asked. None of it changes the server.
func (w *watcher) ask() (*replies, error) {
	r := &replies{}
	var err error
	if r.info, err = redis.String(w.conn.Do("INFO")); err != nil {
		return nil, err
	}
	if !strings.Contains(r.info, "redis_version:") {
		return nil, errRedisNonsense
	}
	// Services that run Redis for others may keep these two to themselves.
	if r.stats, err = redis.String(w.conn.Do("INFO", "COMMANDSTATS")); err != nil && !r.refuse(err, "INFO COMMANDSTATS") {
		return nil, err
	}
	if r.slow, err = redis.Values(w.conn.Do("SLOWLOG", "GET", maxRedisSlow)); err != nil && !r.refuse(err, "SLOWLOG") {
		return nil, err
	}
	return r, nil
}

// refuse notes an error that is the server's answer.
func (r *replies) refuse(err error, command string) bool {
	var answer redis.Error
	if !errors.As(err, &answer) {
		return false
	}
	r.refused = append(r.refused, command)
	return true
}

// events makes events of the answers and remembers them. The first answer only
// begins the counts: what lies before it may have been recorded by an earlier run.
func (w *watcher) events(r *replies) []Event {
	info, now := w.figures(r.info)
	past := w.past
	switch {
	case past == nil:
		past = &totals{hits: now.hits, misses: now.misses, evicted: now.evicted, expired: now.expired, slowID: -1}
	case past.runID != now.runID || now.uptime < past.uptime:
		// It was started anew, and so were its counts.
		past = &totals{commands: map[string]commandCost{}, slowID: -1, slowAsked: true}
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
	if now.slowID, now.slowAsked = past.slowID, past.slowAsked; r.slow != nil {
		all = append(all, w.slow(r.slow, &now)...)
	}
	return all
}

// difference is how far a counter has come; it may have been set back in between.
func difference(now, past int64) int64 {
	if now < past {
		return now
	}
	return now - past
}
