package store

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"

	"reeve/store/disk/disktest"
)

// Sorting decodes only the members that an index declares. Random records reveal an index that
// reads another one.
func TestIndex_DeclaresMembersRead(t *testing.T) {
	r := disktest.Random(t)
	if err := reeve.CheckIndexes(func(record any) {
		fillSample(r, reflect.ValueOf(record).Elem())
	}); err != nil {
		t.Error(err)
	}
}

// fillSample sets about two thirds of the fields of a struct to random values.
func fillSample(r *rand.Rand, v reflect.Value) {
	if v.Kind() != reflect.Struct && r.IntN(3) == 0 ||
		v.Type() == reflect.TypeFor[json.RawMessage]() {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fillSample(r, v.Field(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1+r.IntN(2), 2))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			fillSample(r, v.Index(i))
		}
	case reflect.String:
		v.SetString([]string{"a", "B", "t", "running", "registration"}[r.IntN(5)])
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1 + r.Int64N([]int64{2, 1000}[r.IntN(2)])) // small ones are often the same in two places
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(1 + r.Uint64N(200))
	case reflect.Map: // in no index
	default:
		panic("fillSample: " + v.Type().String())
	}
}
