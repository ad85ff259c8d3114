package etcd

import (
	"context"
	"time"
)

// Member is the state of a member of etcd.
type Member struct {
	Endpoint string
	Err      error // why there is no answer; the following are then zero
	Latency  time.Duration
	Version  string
	Leader   bool
	Size     int64    // bytes of its database file
	Used     int64    // bytes of it that are in use; defragmenting frees the others
	Quota    int64    // size at which it accepts no more writes; 0 if it does not say
	Faults   []string // alarms, as etcd names them
}

// Members asks each endpoint for its state, one after another, for at most a second each.
func (l *Log) Members(ctx context.Context) (all []Member) {
	for _, endpoint := range l.client.Endpoints() {
		all = append(all, l.member(ctx, endpoint))
	}
	return all
}

func (l *Log) member(ctx context.Context, endpoint string) Member {
	ctx, cancel := context.WithTimeout(ctx, beatTimeout)
	defer cancel()
	m, begun := Member{Endpoint: endpoint}, time.Now()
	s, err := l.client.Status(ctx, endpoint)
	m.Latency = time.Since(begun)
	if err == nil {
		err = l.sameCluster(s.Header)
	}
	if err != nil {
		m.Err = named(err)
		return m
	}
	m.Version, m.Leader = s.Version, s.Leader == s.Header.MemberId
	m.Size, m.Used, m.Quota, m.Faults = s.DbSize, s.DbSizeInUse, s.DbSizeQuota, s.Errors
	return m
}
