package server_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reeve/server/account"
	"reeve/server/people"
	"reeve/server/rights"
	"reeve/server/servertest"
	"reeve/server/web"
	"reeve/store"
)

// undeclared are fields of records that no body has, with recognizable values.
func undeclared(in *web.Input) (ignored, refused map[string]any) {
	ignored, refused = map[string]any{}, map[string]any{}
	texts := []string{
		encodeZero(store.User{}), encodeZero(store.AppUser{}), encodeZero(store.Role{}),
		encodeZero(store.Dept{}), encodeZero(store.Permission{}),
		encodeZero(store.Setting{}), encodeZero(store.SettingGroup{}), encodeZero(store.Session{}),
		encodeZero(store.LoginLog{}), encodeZero(store.PasswordHash{}),
		encodeZero(store.SessionToken{}), encodeZero(people.User{}), encodeZero(rights.Role{}),
		encodeZero(people.AppUser{}), encodeZero(account.Session{}),
	}
	for _, text := range texts {
		var fields map[string]any
		if err := json.Unmarshal([]byte(text), &fields); err != nil {
			panic(err)
		}
		for name, value := range fields {
			if in.Has("json", name) || slices.Contains(in.State, name) {
				continue
			}
			switch value.(type) {
			case string:
				value = "tampered"
			case float64:
				value = 1
			default:
				value = []int{1}
			}
			if in.ReadOnly[name] {
				ignored[name] = value
			} else {
				refused[name] = value
			}
		}
	}

	return ignored, refused
}

func encodeZero(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// steadyDump is a dump without values that differ between two instances.
func steadyDump(in *servertest.Instance) map[string]string {
	all := map[string]string{}
	for key, text := range in.Dump() {
		if kind, _, _ := strings.Cut(key, " "); kind != "password_hash" &&
			kind != "session_token" &&
			kind != "install" {
			all[key] = sealedBox.ReplaceAllString(servertest.Steady(text), `"box":""`)
		}
	}
	return all
}

// sealedBox matches an encrypted value, which differs each time.
var sealedBox = regexp.MustCompile(`"box":"[^"]+"`)

// TestMassAssignment_DeclaredFieldsOnly sends every field of every record to every route that
// writes: the fields of the route's record are ignored (at the small size, by a third of the
// routes), the others rejected.
func TestMassAssignment_DeclaredFieldsOnly(t *testing.T) {
	t.Parallel()
	refusing := withGoodBodies(t)
	before, chosen := refusing.Dump(), third(t)
	for _, rt := range bodied() {
		changes := chosen()
		t.Run(rt.Name(), func(t *testing.T) {
			good := goodBodies()[rt.Name()]
			ignored, refused := undeclared(rt.Input)
			if len(refused) == 0 {
				t.Fatal("no field is refused")
			}

			here := refusing.In(t)
			for name, value := range refused {
				body := servertest.With(t, good.body, name, string(servertest.EncodeJSON(t, value)))
				a := here.Call(rt.Method, good.url, body, holder(&rt))
				if a.Code != 400 || a.Envelope().Errors[name] == "" {
					t.Errorf("%s: %d %s", name, a.Code, a.Body)
				}
			}

			if len(ignored) == 0 || !changes {
				return
			}

			plain, tampered := withGoodBodies(t), withGoodBodies(t)
			first := plain.OK(rt.Method, good.url, withCode(plain, &rt, good.body), holder(&rt))
			body := good.body
			for name, value := range ignored {
				body = servertest.With(t, body, name, string(servertest.EncodeJSON(t, value)))
			}

			second := tampered.OK(rt.Method, good.url, withCode(tampered, &rt, body), holder(&rt))
			if servertest.Steady(first.Body) != servertest.Steady(second.Body) {
				t.Errorf("answered %s\nand, with read-only fields, %s", first.Body, second.Body)
			}

			want, got := steadyDump(plain), steadyDump(tampered)
			for key := range want {
				if want[key] != got[key] {
					t.Errorf("%s is %s, and with read-only fields %s", key, want[key], got[key])
				}
			}

			if len(want) != len(got) {
				t.Errorf("%d records, and with read-only fields %d", len(want), len(got))
			}
		})
	}

	refusing.Unchanged(before)
}
