package etcd_test

import (
	"bytes"
	"maps"
	"testing"

	"reeve/store/etcd"
	"reeve/store/etcd/etcdtest"
)

func TestNotes(t *testing.T) {
	t.Parallel()
	o := etcdtest.Options(etcdtest.Start(t))
	a, b := begin(t, o), join(t, o)
	large := bytes.Repeat([]byte("x"), etcd.MostNote)
	must(t, a.log.SetNote(t.Context(), "one/a", []byte("first")))
	must(t, b.log.SetNote(t.Context(), "one/b", large))
	must(t, b.log.SetNote(t.Context(), "two/a", nil))
	must(t, b.log.SetNote(t.Context(), "one/a", []byte("second")))
	if err := a.log.SetNote(t.Context(), "one/a", append(large, 'x')); err == nil {
		t.Error("a larger note is accepted")
	}
	for prefix, want := range map[string]map[string][]byte{
		"one/":  {"one/a": []byte("second"), "one/b": large},
		"one/b": {"one/b": large},
		"none":  {},
	} {
		got, err := a.log.Notes(t.Context(), prefix)
		must(t, err)
		if !maps.EqualFunc(got, want, bytes.Equal) {
			t.Errorf("%s: %d notes, not %d", prefix, len(got), len(want))
		}
	}
}
