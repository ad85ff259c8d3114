package monitor

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"reeve/store"
	"reeve/store/journal"
)

// A write has a dozen events, and encoding them by reflection took most of monitoring's
// processor time. The output here equals that of encoding/json byte for byte; a test
// compares them.

// appender is an event that encodes itself.
type appender interface {
	appendJSON(b []byte) []byte
}

// encoder encodes events for the journal into buffers that it reuses.
type encoder struct{ buffer []byte }

const eventBuffer = 256 << 10

// encode returns an event as the journal stores it. It is valid until reuse.
func (e *encoder) encode(kind string, h indexHeader, event appender) journal.Event {
	if cap(e.buffer)-len(e.buffer) < 4<<10 {
		e.buffer = make([]byte, 0, eventBuffer) // previous events still refer to the old buffer
	}
	from := len(e.buffer)
	e.buffer = h.append(e.buffer)
	body := len(e.buffer)
	e.buffer = event.appendJSON(e.buffer)
	end := len(e.buffer)
	return journal.Event{Kind: kind, Head: e.buffer[from:body:body], Body: e.buffer[body:end:end]}
}

// reuse makes the buffer available again. All events encoded so far become invalid.
func (e *encoder) reuse() {
	if cap(e.buffer) > eventBuffer {
		e.buffer = nil // grown by a large event
	}
	e.buffer = e.buffer[:0]
}

func (h *EventHead) appendHead(b []byte) []byte {
	b = append(b, '{')
	if h.ID != 0 {
		b = append(strconv.AppendUint(append(b, `"id":`...), h.ID, 10), ',')
	}

	b = h.RecordedAt.AppendJSON(append(b, `"recorded_at":`...))
	b = appendText(b, `,"request_id":`, h.RequestID)
	if b = append(b, `,"user":`...); h.User == nil {
		b = append(b, "null"...)
	} else {
		b = strconv.AppendUint(append(b, `{"id":`...), uint64(h.User.ID), 10)
		b = appendText(b, `,"username":`, h.User.Username)
		b = appendText(b, `,"realm":`, h.User.Realm)
		if h.User.KeyID != 0 {
			b = strconv.AppendUint(append(b, `,"key_id":`...), uint64(h.User.KeyID), 10)
		}
		if h.User.Key != "" {
			b = appendText(b, `,"key":`, h.User.Key)
		}
		if h.User.AsID != 0 {
			b = strconv.AppendUint(append(b, `,"as_id":`...), uint64(h.User.AsID), 10)
		}
		b = append(b, '}')
	}

	b = appendText(b, `,"host_name":`, h.HostName)
	return appendInt(b, `,"sampled":`, h.Sampled)
}

func (e *RequestEvent) appendJSON(b []byte) []byte {
	b = e.appendHead(b)
	b = appendText(b, `,"method":`, e.Method)
	b = appendText(b, `,"uri":`, e.URI)
	b = appendText(b, `,"route":`, e.Route)
	b = appendText(b, `,"handler":`, e.Handler)
	b = appendText(b, `,"address":`, e.Address)
	b = appendText(b, `,"user_agent":`, e.UserAgent)
	b = append(b, `,"headers":`...)
	if e.Headers == nil {
		b = append(b, "null"...)
	} else {
		b = append(b, '{')
		for i, name := range slices.Sorted(maps.Keys(e.Headers)) {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, name), ':')
			b = appendString(b, e.Headers[name])
		}
		b = append(b, '}')
	}

	b = appendText(b, `,"payload":`, e.Payload)
	b = appendInt(b, `,"status":`, e.Status)
	b = appendText(b, `,"error":`, e.Error)
	b = appendText(b, `,"message":`, e.Message)
	b = appendFloat(b, `,"duration_ms":`, e.DurationMS)
	b = appendInt(b, `,"bytes_in":`, e.BytesIn)
	b = appendInt(b, `,"bytes_out":`, e.BytesOut)
	b = appendInt(b, `,"events":`, e.Events)
	b = appendFloat(b, `,"store_ms":`, e.StoreMS)
	b = appendFloat(b, `,"wait_ms":`, e.WaitMS)
	for _, part := range []struct {
		name string
		ms   float64
	}{{`,"hash_ms":`, e.HashMS}, {`,"hash_wait_ms":`, e.HashWaitMS}, {`,"image_ms":`, e.ImageMS}} {
		if part.ms != 0 {
			b = appendFloat(b, part.name, part.ms)
		}
	}

	return append(appendFlag(b, `,"slow":`, e.Slow), '}')
}

func (e *AuthEvent) appendJSON(b []byte) []byte {
	b = e.appendHead(b)
	b = appendText(b, `,"type":`, e.Type)
	b = appendText(b, `,"username":`, e.Username)
	b = appendText(b, `,"address":`, e.Address)
	b = appendText(b, `,"ability":`, e.Ability)
	b = appendText(b, `,"result":`, e.Result)
	b = appendText(b, `,"reason":`, e.Reason)
	b = appendText(b, `,"provider_name":`, e.Provider)
	b = append(b, `,"matched_by":`...)
	if e.MatchedBy == nil {
		b = append(b, "null"...)
	} else {
		b = append(b, '[')
		for i, name := range e.MatchedBy {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendString(b, name)
		}
		b = append(b, ']')
	}

	return append(appendText(b, `,"route":`, e.Route), '}')
}

func (e *QueryEvent) appendJSON(b []byte) []byte {
	b = e.appendHead(b)
	b = appendText(b, `,"connection":`, e.Connection)
	b = appendText(b, `,"statement":`, e.Statement)
	b = appendText(b, `,"mode":`, e.Mode)
	b = appendText(b, `,"plan":`, e.Plan)
	b = appendInt(b, `,"examined":`, e.Examined)
	b = appendInt(b, `,"returned":`, e.Returned)
	b = appendInt(b, `,"bytes":`, e.Bytes)
	b = appendFloat(b, `,"duration_ms":`, e.DurationMS)
	b = appendFloat(b, `,"wait_ms":`, e.WaitMS)
	b = appendFloat(b, `,"commit_ms":`, e.CommitMS)
	b = appendFlag(b, `,"slow":`, e.Slow)
	b = appendText(b, `,"caller":`, e.Caller)
	b = appendFlag(b, `,"n_plus_one":`, e.NPlusOne)
	return append(appendText(b, `,"route":`, e.Route), '}')
}

func (e *CacheEvent) appendJSON(b []byte) []byte {
	b = e.appendHead(b)
	b = appendText(b, `,"cache":`, e.Cache)
	b = appendText(b, `,"type":`, e.Type)
	b = appendText(b, `,"key":`, e.Key)
	b = appendInt(b, `,"generation":`, e.Generation)
	b = appendInt(b, `,"size":`, e.Size)
	b = appendFloat(b, `,"duration_ms":`, e.DurationMS)
	b = appendInt(b, `,"count":`, e.Count)
	return append(appendText(b, `,"route":`, e.Route), '}')
}

func appendText(b []byte, name, text string) []byte {
	return appendString(append(b, name...), text)
}

func appendInt(b []byte, name string, n int64) []byte {
	return strconv.AppendInt(append(b, name...), n, 10)
}

func appendFlag(b []byte, name string, f store.Flag) []byte {
	n := int64(0)
	if f {
		n = 1
	}
	return appendInt(b, name, n)
}

// appendFloat appends milliseconds. encoding/json uses an exponent for very small and very
// large numbers.
func appendFloat(b []byte, name string, f float64) []byte {
	b = append(b, name...)
	if size := math.Abs(f); f != 0 && (size < 1e-6 || size >= 1e21) {
		text, err := json.Marshal(f)
		if err != nil { // NaN, which no duration is
			return append(b, '0')
		}
		return append(b, text...)
	}
	return strconv.AppendFloat(b, f, 'f', -1, 64)
}

// appendString appends a quoted text. encoding/json handles texts that need escaping.
func appendString(b []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' || c == '<' ||
			c == '>' || c == '&' || c == 0x7f {
			quoted, _ := json.Marshal(text) // a string cannot fail
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), text...), '"')
}

// appendJSON uses encoding/json: events of Redis servers are rare.
func (e *RedisRecord) appendJSON(b []byte) []byte {
	text, err := json.Marshal(e)
	if err != nil { // a time or number that cannot be encoded: keep the head
		return append(e.appendHead(b), '}')
	}
	return append(b, text...)
}
