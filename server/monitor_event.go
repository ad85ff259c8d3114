package server

import (
	"encoding/binary"
	"time"

	"reeve/server/redis"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/journal"
)

// The kinds of events, each a list of its own.
const (
	requestKind = "request"
	authKind    = "auth"
	queryKind   = "query"
	cacheKind   = "cache"
	redisKind   = "redis"
)

// eventHead has the fields that all events share. An event is stored without its ID, which
// the journal assigns; withID adds it.
type eventHead struct {
	ID         uint64     `json:"id,omitzero" doc:"grows with every event that is kept"`
	RecordedAt store.Time `json:"recorded_at" doc:"when it happened, or began if it took time"`
	RequestID  string     `json:"request_id" doc:"of the request that it belongs to; empty for none"`
	User       *eventUser `json:"user" null:"true" doc:"who was signed in; null for nobody"`
	HostName   string     `json:"host_name" doc:"of the machine that the server runs on"`
	Sampled    int64      `json:"sampled" doc:"how many like it this one stands for: more than 1 under load"`
}

// eventUser is who was signed in.
type eventUser struct {
	ID       store.ID `json:"id"`
	Username string   `json:"username"`
	Realm    string   `json:"realm" doc:"admin or app"`
}

// requestEvent is one request and its answer.
type requestEvent struct {
	eventHead
	Method     string            `json:"method"`
	URI        string            `json:"uri" doc:"as it was asked for, secrets hidden"`
	Route      string            `json:"route" doc:"the address as the interface describes it; empty for none"`
	Handler    string            `json:"handler"`
	Address    string            `json:"address" doc:"of the client"`
	UserAgent  string            `json:"user_agent"`
	Headers    map[string]string `json:"headers" doc:"those that tell nothing secret"`
	Payload    string            `json:"payload" doc:"the JSON body up to 4 KiB, secrets hidden"`
	Status     int64             `json:"status" doc:"499 if the client closed the connection before the answer was complete"`
	Error      string            `json:"error" doc:"the errorCode of a failure"`
	Message    string            `json:"message" doc:"what a failure said, secrets hidden"`
	DurationMS float64           `json:"duration_ms"`
	BytesIn    int64             `json:"bytes_in"`
	BytesOut   int64             `json:"bytes_out"`
	Events     int64             `json:"events" doc:"how many other events belong to it"`
	StoreMS    float64           `json:"store_ms" doc:"spent in the store, waiting left out"`
	WaitMS     float64           `json:"wait_ms" doc:"spent waiting for its turn to write"`
	HashMS     float64           `json:"hash_ms,omitempty" doc:"Time spent hashing the password of a sign-in; absent for none"`
	HashWaitMS float64           `json:"hash_wait_ms,omitempty" doc:"Time a sign-in waited to be hashed; absent for none"`
	ImageMS    float64           `json:"image_ms,omitempty" doc:"Time spent decoding and scaling an image for a thumbnail, waiting included; absent for none"`
	Slow       store.Flag        `json:"slow"`
}

// authEvent is a sign-in, what became of a session, or a decision about a permission.
type authEvent struct {
	eventHead
	Type      string   `json:"type" doc:"login, login_failed, locked, logout, revoked, password_changed or permission"`
	Username  string   `json:"username" doc:"of the user that it is about; of a sign-in with a name that no user has, # and the fingerprint of what was typed"`
	Address   string   `json:"address"`
	Ability   string   `json:"ability" doc:"the permission that was asked for"`
	Result    string   `json:"result" doc:"success or failed; of a decision, allowed or denied"`
	Reason    string   `json:"reason" doc:"of a refusal: its errorCode"`
	MatchedBy []string `json:"matched_by" doc:"the roles that grant the permission"`
	Route     string   `json:"route"`
}

// queryEvent is one operation of the store. There is no SQL here: the statement
// says in SQL's words what was done.
type queryEvent struct {
	eventHead
	Connection string     `json:"connection" doc:"the database file"`
	Statement  string     `json:"statement" doc:"with ? for values, which are never kept"`
	Mode       string     `json:"mode" doc:"read or write"`
	Plan       string     `json:"plan" doc:"get, index or scan; put or delete"`
	Examined   int64      `json:"examined" doc:"records and index entries looked at"`
	Returned   int64      `json:"returned"`
	Bytes      int64      `json:"bytes" doc:"of the records looked at"`
	DurationMS float64    `json:"duration_ms"`
	WaitMS     float64    `json:"wait_ms" doc:"for its turn to write"`
	CommitMS   float64    `json:"commit_ms" doc:"for the disk, shared with the writes of the same commit"`
	Slow       store.Flag `json:"slow"`
	Caller     string     `json:"caller" doc:"file:line in the program"`
	NPlusOne   store.Flag `json:"n_plus_one" doc:"1 when its request repeats the statement five times or more"`
	Route      string     `json:"route"`
}

// cacheEvent is something that happened to a cache in memory.
type cacheEvent struct {
	eventHead
	Cache      string  `json:"cache" doc:"settings, rules, permissions, dictionaries, sessions; throttle for the counters of sign-in attempts"`
	Type       string  `json:"type" doc:"hit, miss, set, forget or rebuild; hits are added up"`
	Key        string  `json:"key" doc:"of the entry, in a cache that has several"`
	Generation int64   `json:"generation"`
	Size       int64   `json:"size" doc:"Number of entries; of throttle, the value of the counter"`
	DurationMS float64 `json:"duration_ms"`
	Count      int64   `json:"count" doc:"how many times"`
	Route      string  `json:"route"`
}

// redisRecord is what happened at a Redis server, or in the memory that does here
// what Redis does elsewhere.
type redisRecord struct {
	eventHead
	redis.Event
}

// marks is what a list asks of an event before it decodes it: the fixed head of
// every event in the journal.
type marks struct {
	at       store.Time
	user     store.ID
	duration time.Duration
	status   uint16
	app      bool // the user is an app user
	slow     bool
	failed   bool
}

const marksLen = 8 + 8 + 8 + 2 + 1

// append adds the fixed head to a buffer.
func (m *marks) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(m.at))
	b = binary.BigEndian.AppendUint64(b, uint64(m.user))
	b = binary.BigEndian.AppendUint64(b, uint64(m.duration))
	b = binary.BigEndian.AppendUint16(b, m.status)
	flags := byte(0)
	if m.slow {
		flags |= 1
	}
	if m.failed {
		flags |= 2
	}
	if m.app {
		flags |= 4
	}
	return append(b, flags)
}

// readMarks reads a head; ok is false for one of another program.
func readMarks(b []byte) (m marks, ok bool) {
	if len(b) != marksLen {
		return m, false
	}
	return marks{
		at: store.Time(binary.BigEndian.Uint64(b)), user: store.ID(binary.BigEndian.Uint64(b[8:])),
		duration: time.Duration(binary.BigEndian.Uint64(b[16:])), status: binary.BigEndian.Uint16(b[24:]),
		slow: b[26]&1 != 0, failed: b[26]&2 != 0, app: b[26]&4 != 0,
	}, true
}

// events encodes events for the journal, which gives them their ids, into one buffer
// after another. It is used again when the journal has them.
type events struct{ buffer []byte }

const eventBuffer = 256 << 10

func (e *events) journaled(kind string, m marks, event appender) journal.Event {
	if cap(e.buffer)-len(e.buffer) < 4<<10 {
		e.buffer = make([]byte, 0, eventBuffer) // the one before belongs to its events
	}
	from := len(e.buffer)
	e.buffer = m.append(e.buffer)
	body := len(e.buffer)
	e.buffer = event.appendJSON(e.buffer)
	end := len(e.buffer)
	return journal.Event{Kind: kind, Head: e.buffer[from:body:body], Body: e.buffer[body:end:end]}
}

// reuse makes room again; nobody may hold an event any more.
func (e *events) reuse() {
	if cap(e.buffer) > eventBuffer {
		e.buffer = nil // an event was too large for it
	}
	e.buffer = e.buffer[:0]
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// resultOf and reasonOf say in an event what came of something.
func resultOf(err error) string {
	if err != nil {
		return "failed"
	}
	return "success"
}

func reasonOf(err error) string {
	if err != nil {
		return errs.Of(err).Code
	}
	return ""
}
