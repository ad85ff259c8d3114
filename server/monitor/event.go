package monitor

import (
	"encoding/binary"
	"time"

	"reeve/server/redis"
	"reeve/store"
)

// The kinds of events. Each is a list of its own.
const (
	RequestKind = "request"
	AuthKind    = "auth"
	QueryKind   = "query"
	CacheKind   = "cache"
	RedisKind   = "redis"
)

// EventHead has the fields that all events share. An event is stored without its ID, which
// the journal assigns; withID adds it.
type EventHead struct {
	ID         uint64     `json:"id,omitzero" doc:"ID of the event; later events have larger ones"`
	RecordedAt store.Time `json:"recorded_at" doc:"Time of the event, or of its start if it took time"`
	RequestID  string     `json:"request_id" doc:"ID of the request that caused the event; empty for none"`
	User       *EventUser `json:"user" null:"true" doc:"User who was signed in; null for none"`
	HostName   string     `json:"host_name" doc:"Host name of the server"`
	Sampled    int64      `json:"sampled" doc:"Number of similar events that this one represents; more than 1 if events are sampled under load"`
}

// EventUser is the signed-in user of a request.
type EventUser struct {
	ID       store.ID `json:"id"`
	Username string   `json:"username" doc:"Username; with that of another user as whom the user acted, like ada as bob"`
	Realm    string   `json:"realm" doc:"Realm of the user: admin or app"`
	KeyID    store.ID `json:"key_id,omitempty" doc:"ID of the API key that acted for the user; absent for the user"`
	Key      string   `json:"key,omitempty" doc:"Name of that key"`
	AsID     store.ID `json:"as_id,omitempty" doc:"ID of the user as whom the user acted; absent for nobody"` // the last field, see Person.isActedAs
}

// RequestEvent is a request and its response.
type RequestEvent struct {
	EventHead
	Method     string            `json:"method"`
	URI        string            `json:"uri" doc:"Path and query as requested, with secrets masked"`
	Route      string            `json:"route" doc:"Path of the operation, like /admin/list/:id; empty if the URL is unknown"`
	Handler    string            `json:"handler"`
	Address    string            `json:"address" doc:"Client address"`
	UserAgent  string            `json:"user_agent"`
	Headers    map[string]string `json:"headers" doc:"Request headers, without secret ones"`
	Payload    string            `json:"payload" doc:"JSON body, up to 4 KiB, with secrets masked"`
	Status     int64             `json:"status" doc:"HTTP status; 499 if the client closed the connection before the response was complete"`
	Error      string            `json:"error" doc:"Code of the error (errorCode); empty for none"`
	Message    string            `json:"message" doc:"Message of the error, with secrets masked; empty for none"`
	DurationMS float64           `json:"duration_ms"`
	BytesIn    int64             `json:"bytes_in"`
	BytesOut   int64             `json:"bytes_out"`
	Events     int64             `json:"events" doc:"Number of other events of the request"`
	StoreMS    float64           `json:"store_ms" doc:"Time spent in the store, without waiting"`
	WaitMS     float64           `json:"wait_ms" doc:"Time spent waiting for the writer"`
	HashMS     float64           `json:"hash_ms,omitempty" doc:"Time spent hashing the password of a sign-in; absent if there was none"`
	HashWaitMS float64           `json:"hash_wait_ms,omitempty" doc:"Time spent waiting to hash the password of a sign-in; absent if there was none"`
	ImageMS    float64           `json:"image_ms,omitempty" doc:"Time spent decoding and scaling an image for a thumbnail, including waiting; absent if there was none"`
	Slow       store.Flag        `json:"slow"`
}

// AuthEvent is a sign-in, a change of a session or password, or a permission check. A
// handler reports one with Type, Username, Result, Reason and RecordedAt;
// Monitor.Done sets the other fields.
type AuthEvent struct {
	EventHead
	Type      string   `json:"type" enum:"auth_event" doc:"Type of event: permission for a permission check; act_as if the user began to act as another user; confirmed if the user confirmed the session for a sensitive action; locked for a sign-in that was rate-limited; revoked if sessions were ended by an administrator or on another device"`
	Username  string   `json:"username" doc:"Name of the user that the event is about; # and a fingerprint of the input for a sign-in with an unknown name"`
	Address   string   `json:"address"`
	Ability   string   `json:"ability" doc:"Permission that was checked"`
	Result    string   `json:"result" doc:"Result: success or failed; for a permission, allowed or denied"`
	Reason    string   `json:"reason" doc:"Code of the error (errorCode) if it failed or was denied"`
	Provider  string   `json:"provider_name" doc:"Title of the sign-in provider that the event is about, such as that of a sign-in with it; empty for none"`
	MatchedBy []string `json:"matched_by" doc:"Names of the roles that grant the permission"`
	Route     string   `json:"route"`
}

// QueryEvent is an operation of the store. The store has no SQL; the statement describes
// the operation in terms of SQL.
type QueryEvent struct {
	EventHead
	Connection string     `json:"connection" doc:"Database file"`
	Statement  string     `json:"statement" doc:"Statement, with ? for values, which are never recorded"`
	Mode       string     `json:"mode" doc:"Mode: read or write"`
	Plan       string     `json:"plan" doc:"Access path: get, index or scan for a read; put or delete for a write"`
	Examined   int64      `json:"examined" doc:"Number of records and index entries that were read"`
	Returned   int64      `json:"returned"`
	Bytes      int64      `json:"bytes" doc:"Bytes of the records that were read"`
	DurationMS float64    `json:"duration_ms"`
	WaitMS     float64    `json:"wait_ms" doc:"Time spent waiting for the writer"`
	CommitMS   float64    `json:"commit_ms" doc:"Time of the commit, including the disk; writes of one commit share it"`
	Slow       store.Flag `json:"slow"`
	Caller     string     `json:"caller" doc:"File and line of the caller in the source, as file:line"`
	NPlusOne   store.Flag `json:"n_plus_one" doc:"1 if the request ran the statement five times or more, else 0"`
	Route      string     `json:"route"`
}

// CacheEvent is a change of a cache in memory, or a number of hits.
type CacheEvent struct {
	EventHead
	Cache      string  `json:"cache" doc:"Cache: settings, rules, permissions, dictionaries or sessions; throttle for the counters of the rate limiter"`
	Type       string  `json:"type" doc:"Type of event: hit, miss, set, forget or rebuild; an event of hits counts those of many requests"`
	Key        string  `json:"key" doc:"Key of the entry, in a cache with several"`
	Generation int64   `json:"generation"`
	Size       int64   `json:"size" doc:"Number of entries; for throttle, the value of the counter"`
	DurationMS float64 `json:"duration_ms"`
	Count      int64   `json:"count" doc:"Number of occurrences"`
	Route      string  `json:"route"`
}

// RedisRecord is an observation of an external Redis server.
type RedisRecord struct {
	EventHead
	redis.Event
}

// indexHeader is the fixed-size header of an event in the journal. A search reads it before
// it looks at the JSON.
type indexHeader struct {
	at       store.Time
	user     store.ID
	duration time.Duration
	status   uint16
	app      bool // the user is an app user
	slow     bool
	failed   bool
}

const headerLen = 8 + 8 + 8 + 2 + 1

// append appends the header in its stored form.
func (h *indexHeader) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(h.at))
	b = binary.BigEndian.AppendUint64(b, uint64(h.user))
	b = binary.BigEndian.AppendUint64(b, uint64(h.duration))
	b = binary.BigEndian.AppendUint16(b, h.status)
	flags := byte(0)
	if h.slow {
		flags |= 1
	}
	if h.failed {
		flags |= 2
	}
	if h.app {
		flags |= 4
	}

	return append(b, flags)
}

// readHeader parses a stored header. ok is false if it has another format.
func readHeader(b []byte) (h indexHeader, ok bool) {
	if len(b) != headerLen {
		return h, false
	}
	return indexHeader{
		at:       store.Time(binary.BigEndian.Uint64(b)),
		user:     store.ID(binary.BigEndian.Uint64(b[8:])),
		duration: time.Duration(binary.BigEndian.Uint64(b[16:])),
		status:   binary.BigEndian.Uint16(b[24:]),
		slow:     b[26]&1 != 0,
		failed:   b[26]&2 != 0,
		app:      b[26]&4 != 0,
	}, true
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
