package server_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"reeve/server/openapi"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/kv"
)

// TestTimeInput sends a time in the body and in the query, as a value and as a pointer.
func TestTimeInput(t *testing.T) {
	t.Parallel()
	type in struct {
		Start *store.Time  `json:"start"`
		Since store.Time   `query:"since"`
		Days  []store.Time `json:"days"`
	}
	d := web.Describe(reflect.TypeFor[in](), "POST", reflect.TypeFor[web.Nothing]())
	noon := kv.TimeOf(time.Date(2026, 3, 1, 12, 0, 0, 500_000, time.UTC))
	for value, want := range map[any]store.Time{
		"2026-03-01T12:00:00.0005Z":      noon,
		"2026-03-01T14:00:00.0005+02:00": noon,
		json.Number("1772366400"):        -1,
		"2026-03-01":                     -1,
		"":                               -1,
		true:                             -1,
	} {
		for name, set := range map[string]func(*in, *web.InputFaults){
			"body": func(v *in, bad *web.InputFaults) {
				web.BindValue(d.Find("json", "start"),
					web.FieldTarget(reflect.ValueOf(v).Elem(), d.Find("json", "start")), value,
					"start", bad)
			},
			"array": func(v *in, bad *web.InputFaults) {
				web.BindValue(d.Find("json", "days"),
					web.FieldTarget(reflect.ValueOf(v).Elem(), d.Find("json", "days")),
					[]any{value}, "days", bad)
			},
			"query": func(v *in, bad *web.InputFaults) {
				web.BindText(d.Find("query", "since"), reflect.ValueOf(v).Elem(),
					fmt.Sprint(value), bad.Invalid)
			},
		} {
			var v in
			bad := web.NewInputFaults()
			set(&v, bad)
			if want == -1 {
				if len(bad.Invalid) != 1 {
					t.Errorf("%s: %v is accepted", name, value)
				}
				continue
			}

			got := v.Since
			switch {
			case v.Start != nil:
				got = *v.Start
			case v.Days != nil:
				got = v.Days[0]
			}

			if got != want || len(bad.Invalid) > 0 {
				t.Errorf("%s: %v is %v, %v", name, value, got, bad.Invalid)
			}
		}
	}

	if diff := cmp.Diff(openapi.Object{"type": []any{"string", "null"}, "format": "date-time"},
		openapi.FieldSchema(d.Find("json", "start"))); diff != "" {
		t.Error(diff)
	}
}

// TestInput_UndecodableTypes declares inputs that would otherwise fail at the
// first request.
func TestInput_UndecodableTypes(t *testing.T) {
	t.Parallel()
	for _, in := range []any{
		struct {
			At time.Time `json:"at"`
		}{}, struct {
			N int `json:"n"`
		}{}, struct {
			Took time.Duration `json:"took"`
		}{}, struct {
			Ratio float64 `json:"ratio"`
		}{}, struct {
			One struct{ A string } `json:"one"`
		}{}, struct {
			Rows [][]string `json:"rows"`
			At   []float64  `json:"at"`
		}{}, struct {
			N int32 `query:"n"`
		}{}, struct {
			Names []string `form:"names"`
		}{},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%T is accepted", in)
				}
			}()
			web.Describe(reflect.TypeOf(in), "POST", reflect.TypeFor[web.Nothing]())
		}()
	}
}
