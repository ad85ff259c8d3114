package monitor

import (
	"context"

	"reeve/server/redis"
)

// pollRedis polls the configured Redis servers until ctx ends.
func (m *Monitor) pollRedis(ctx context.Context) {
	targets, err := redis.ParseTargets(m.targets)
	if err != nil || len(targets) == 0 {
		return // the configuration was validated before the start
	}
	m.pollers.Go(func() {
		redis.NewPoller(targets).Run(ctx, func(e redis.Event) { m.put(m.redisRecord(e)) })
	})
}

// redisRecord returns a record with one event that belongs to no request.
func (m *Monitor) redisRecord(e redis.Event) *record {
	r := &record{
		parts:      []part{(*redisPart)(&e)},
		standalone: true,
		size:       1024,
		index:      indexHeader{at: e.At, failed: e.State == "down"},
	}
	r.request.EventHead = EventHead{RecordedAt: e.At, HostName: m.host, Sampled: 1}
	return r
}
