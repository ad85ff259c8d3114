package redis

import "reeve/store"

// Types of Event.
const (
	infoType    = "info"
	commandType = "command"
	slowlogType = "slowlog"
	stateType   = "state"
)

// Event is one observation of a Redis server.
type Event struct {
	Connection  string     `json:"connection" doc:"Name of the target in the configuration"`
	Type        string     `json:"type" doc:"Type of the event. info: statistics of the whole server; command: cost of one command since the last poll; slowlog: one slow execution; state: the server went down or came up"`
	Command     string     `json:"command,omitempty" doc:"Name of the command, in capitals, of types command and slowlog; with its subcommand for command."`
	Calls       int64      `json:"calls,omitempty" doc:"Executions since the last poll, of type command"`
	Usec        int64      `json:"usec,omitempty" doc:"Total duration of the executions in microseconds, of type command"`
	UsecPerCall float64    `json:"usec_per_call,omitempty" doc:"Average duration of an execution in microseconds, of type command"`
	Key         string     `json:"key,omitempty" doc:"First key of the command, truncated, of type slowlog; other arguments are never included"`
	DurationMS  float64    `json:"duration_ms,omitempty" doc:"Duration in milliseconds, of type slowlog"`
	Client      string     `json:"client,omitempty" doc:"Address of the client, of type slowlog"`
	ExecutedAt  store.Time `json:"executed_at,omitempty" doc:"Start of the execution by the Redis server's clock, to the second, of type slowlog"`
	State       string     `json:"state,omitempty" doc:"State of the server, of type state: up or down; down is repeated every minute"`
	Error       string     `json:"error,omitempty" doc:"Reason why the server is down, of type state; commands that the server rejected, of type info"`
	Info        *Info      `json:"info,omitempty" doc:"Statistics of the server, of type info"`

	At store.Time `json:"-"` // time of the observation
}

// Info is the statistics of a Redis server.
type Info struct {
	Version          string           `json:"version"`
	Role             string           `json:"role" doc:"Role of the server: master or slave, as Redis names them"`
	UptimeSeconds    int64            `json:"uptime_seconds"`
	ConnectedClients int64            `json:"connected_clients"`
	UsedMemory       int64            `json:"used_memory" doc:"Used memory in bytes"`
	MaxMemory        int64            `json:"maxmemory" doc:"Memory limit in bytes; 0 for no limit"`
	OpsPerSecond     int64            `json:"ops_per_second" doc:"Commands per second, as measured by the server over a short interval"`
	HitRate          *float64         `json:"hit_rate" null:"true" doc:"Share of keys read since the last poll that existed, 0 to 1; null if none was read"`
	EvictedKeys      int64            `json:"evicted_keys" doc:"Keys evicted since the last poll"`
	ExpiredKeys      int64            `json:"expired_keys" doc:"Keys expired since the last poll"`
	Replicas         int64            `json:"replicas" doc:"Replicas connected to this server"`
	Keys             map[string]int64 `json:"keys" doc:"Number of keys by database (db0, db1 …); empty databases are left out"`
}
