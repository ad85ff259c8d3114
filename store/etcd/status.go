package etcd

import (
	"context"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

// noLeader is the error of a member that finds no leader, as its state has it.
var noLeader = rpctypes.ErrorDesc(rpctypes.ErrGRPCNoLeader)

// Member is the state of a member of etcd.
type Member struct {
	Endpoint string
	Err      error // why there is no answer; the following are then zero
	Latency  time.Duration
	Version  string
	Leader   bool
	Alone    bool     // whether it finds no leader, which a majority of the members elects
	Size     int64    // bytes of its database file
	Used     int64    // bytes of it that are in use; defragmenting frees the others
	Quota    int64    // size at which it accepts no more writes; 0 if it does not say
	Faults   []string // alarms, as etcd names them
}

// Members asks all endpoints for their state, for at most a second.
func (l *Log) Members(ctx context.Context) []Member {
	endpoints := l.client.Endpoints()
	all := make([]Member, len(endpoints))
	var asking sync.WaitGroup
	for i, endpoint := range endpoints {
		asking.Go(func() { all[i] = l.member(ctx, endpoint) })
	}
	asking.Wait()
	return all
}

// MayCompact returns ErrNoCompaction if the user of etcd may not let it forget old revisions.
func (l *Log) MayCompact(ctx context.Context) error {
	return l.compact(ctx, 1) // the first revision has nothing in it
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
	m.Alone = s.Leader == 0
	m.Size, m.Used, m.Quota = s.DbSize, s.DbSizeInUse, s.DbSizeQuota
	for _, fault := range s.Errors {
		if fault != noLeader { // which is no alarm, see Alone
			m.Faults = append(m.Faults, fault)
		}
	}
	return m
}
