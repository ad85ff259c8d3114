package redis

import "reeve/store"

// The types of Event.
const (
	infoType    = "info"
	commandType = "command"
	slowlogType = "slowlog"
	stateType   = "state"
)

// Event is one observation of a Redis server.
type Event struct {
	Connection  string     `json:"connection" doc:"Name of the target in the configuration; embedded in events of older versions"`
	Type        string     `json:"type" doc:"info: figures of the whole server; command: what one command cost since the last poll; slowlog: one slow execution; state: the server went or came back"`
	Command     string     `json:"command,omitempty" doc:"of command and slowlog: in capitals, with its subcommand for command; of embedded: the whole command that the operation stands for"`
	Calls       int64      `json:"calls,omitempty" doc:"of command: executions since the last poll"`
	Usec        int64      `json:"usec,omitempty" doc:"of command: microseconds they took together"`
	UsecPerCall float64    `json:"usec_per_call,omitempty" doc:"of command: microseconds each took on average"`
	Key         string     `json:"key,omitempty" doc:"of slowlog: the first key, cut; other arguments are never read out"`
	DurationMS  float64    `json:"duration_ms,omitempty" doc:"of slowlog: milliseconds"`
	Client      string     `json:"client,omitempty" doc:"of slowlog: the address of who sent it"`
	ExecutedAt  store.Time `json:"executed_at,omitempty" doc:"of slowlog: when it began, by the Redis server's clock, to the second"`
	State       string     `json:"state,omitempty" doc:"of state: up or down; down is repeated every minute"`
	Error       string     `json:"error,omitempty" doc:"of state: why it is down; of info: what could not be asked"`
	Info        *Info      `json:"info,omitempty" doc:"of info"`

	At store.Time `json:"-"` // when it was observed
}

// Info are the figures of a whole Redis server.
type Info struct {
	Version          string           `json:"version"`
	Role             string           `json:"role" doc:"master or slave, as Redis calls them"`
	UptimeSeconds    int64            `json:"uptime_seconds"`
	ConnectedClients int64            `json:"connected_clients"`
	UsedMemory       int64            `json:"used_memory" doc:"bytes"`
	MaxMemory        int64            `json:"maxmemory" doc:"bytes; 0 for no limit"`
	OpsPerSecond     int64            `json:"ops_per_second" doc:"as the server reckons it, over its last moments"`
	HitRate          *float64         `json:"hit_rate" null:"true" doc:"0 to 1: what part of the keys read since the last poll was there; null if none was read"`
	EvictedKeys      int64            `json:"evicted_keys" doc:"since the last poll"`
	ExpiredKeys      int64            `json:"expired_keys" doc:"since the last poll"`
	Replicas         int64            `json:"replicas" doc:"connected to this server"`
	Keys             map[string]int64 `json:"keys" doc:"by database, those that have any: db0, db1 …"`
}
