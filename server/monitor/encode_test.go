package monitor

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"reeve/store/kv"
)

// fillRandom sets every field of an event, so that the test fails for a new field that is not
// encoded.
func fillRandom(r *rand.Rand, v reflect.Value) {
	texts := []string{"", "plain", `a "quote" and a \`, "<b>&", "ünïcode 漢字 \u2028",
		"bad \xff\xc3 bytes", "line\nbreak\t\x00\x7f", "GET user WHERE id = ?"}
	floats := []float64{0, 0.001, 1234.567, 1e21, 3e-7, -1.5, 100000, 0.1}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() || v.Type().Field(i).Anonymous {
				fillRandom(r, v.Field(i))
			}
		}
	case reflect.String:
		v.SetString(texts[r.IntN(len(texts))])
	case reflect.Float64:
		v.SetFloat(floats[r.IntN(len(floats))])
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int64:
		n := r.Int64N(4e15) - 1e15
		if r.IntN(4) == 0 {
			n = 0
		}
		v.SetInt(n)
	case reflect.Uint64:
		v.SetUint(r.Uint64())
	case reflect.Pointer:
		if r.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fillRandom(r, v.Elem())
		}
	case reflect.Slice:
		if r.IntN(4) > 0 {
			v.Set(reflect.MakeSlice(v.Type(), r.IntN(3), 3))
			for i := range v.Len() {
				fillRandom(r, v.Index(i))
			}
		}
	case reflect.Map:
		if r.IntN(4) > 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for range r.IntN(4) {
				v.SetMapIndex(reflect.ValueOf(texts[r.IntN(len(texts)-3)]),
					reflect.ValueOf(texts[r.IntN(len(texts))]))
			}
		}
	default:
		panic("the test does not know " + v.Kind().String())
	}
}

func TestEncodeEvents_EqualsEncodingJSON(t *testing.T) {
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	for range size(2000, 20_000, 200_000) {
		for _, event := range []appender{new(RequestEvent), new(AuthEvent), new(QueryEvent),
			new(CacheEvent)} {
			fillRandom(r, reflect.ValueOf(event).Elem())
			want, err := json.Marshal(event)
			must(t, err)
			if got := event.appendJSON(nil); string(got) != string(want) {
				t.Fatalf("%T\ngot  %s\nwant %s", event, got, want)
			}
		}
	}
}

// BenchmarkEncodeEvents encodes the events of one write, and reports how many times longer
// encoding/json takes.
func BenchmarkEncodeEvents(b *testing.B) {
	user := &EventUser{1, "admin", "admin", 7, "de\"ploy", 0}
	head := EventHead{
		RecordedAt: kv.TimeOf(time.Now()),
		RequestID:  "d6326b53f1c8-3",
		User:       user,
		HostName:   "host",
		Sampled:    1,
	}
	all := []appender{&RequestEvent{
		EventHead: head,
		Method:    "PUT",
		URI:       "/system/dict/1/item/1",
		Route:     "/system/dict/:id/item/:item_id",
		Handler:   "changeDictItem",
		Address:   "192.0.2.1",
		UserAgent: "Mozilla/5.0 (X11; Linux x86_64)",
		Headers: map[string]string{
			"Accept":       "application/json",
			"User-Agent":   "Mozilla/5.0",
			"Content-Type": "application/json",
		},
		Payload:    `{"label":"a label"}`,
		Status:     200,
		DurationMS: 2.345,
		Events:     14,
		StoreMS:    1.234,
	}, &AuthEvent{
		EventHead: head,
		Type:      "permission",
		Username:  "admin",
		Ability:   "system.dict.item.update",
		Result:    "allowed",
		Provider:  "Company <login>",
		MatchedBy: []string{"Owner"},
		Route:     "/system/dict/:id/item/:item_id",
	}, &CacheEvent{
		EventHead:  head,
		Cache:      "dictionaries",
		Type:       "set",
		Generation: 7,
		Size:       12,
		DurationMS: 0.012,
		Count:      1,
	}}
	for range 12 {
		all = append(all, &QueryEvent{
			EventHead:  head,
			Connection: "data.db",
			Statement:  "GET dict_item WHERE id = ?",
			Mode:       "write",
			Plan:       "get",
			Examined:   1,
			Returned:   1,
			Bytes:      210,
			DurationMS: 0.004,
			Caller:     "server/dict_item.go:88",
			Route:      "/system/dict/:id/item/:item_id",
		})
	}

	var appending, reflecting time.Duration
	var e encoder
	b.ReportAllocs()
	for b.Loop() {
		began := time.Now()
		for _, event := range all {
			e.encode(QueryKind, indexHeader{}, event)
		}
		e.reuse()
		appended := time.Now()
		for _, event := range all {
			if _, err := json.Marshal(event); err != nil {
				b.Fatal(err)
			}
		}
		appending, reflecting = appending+appended.Sub(began), reflecting+time.Since(appended)
	}

	b.ReportMetric(float64(appending.Nanoseconds())/float64(b.N), "append-ns/op")
	b.ReportMetric(float64(reflecting)/float64(max(appending, 1)), "json/append")
}
