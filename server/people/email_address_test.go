package people_test

import (
	"strings"
	"testing"

	"reeve/server"
	"reeve/server/servertest"
	"reeve/store"
)

// TestAddresses_EveryField checks addresses in the same way: in bodies of every route, in imports
// and in settings.
func TestAddresses_EveryField(t *testing.T) {
	t.Parallel()
	found := 0
	for _, rt := range server.Routes() {
		if rt.Input == nil {
			continue
		}
		for _, f := range rt.Input.Fields {
			if f.Name == "email" && (f.From == "json" || f.From == "form") &&
				f.Typ.Kind().String() == "string" {
				if found++; f.Pattern != store.AddressPattern {
					t.Errorf("%s takes any text as %s", rt.Name(), f.Name)
				}
			}
		}
	}

	if found < 8 {
		t.Errorf("%d fields for addresses", found)
	}

	in := servertest.Start(t)
	for _, bad := range []string{"a@b..org", ".a@b.org", "a@-b.org",
		strings.Repeat("a", 65) + "@b.org", strings.Repeat("ë", 33) + "@b.org"} {
		in.Call("POST", "/admin/list", `{"username":"ada","email":"`+bad+`"}`, "owner").Names(422,
			"email")
		in.Call("PUT", "/system/setting", `{"values":{"mail.from":"`+bad+`"}}`, "owner").Names(422,
			"values.mail.from")
		if _, failed, _ := in.Imported("username,email\nada," + bad + "\n"); failed != 1 {
			t.Errorf("%s can be imported", bad)
		}
	}
}
