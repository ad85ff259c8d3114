package auth

import (
	"encoding/json"
	"net/netip"
	"regexp"
	"strings"
	"testing"

	"reeve/store"
	"reeve/store/kv"
)

// TestUnknownLoginName_NotStored checks that unknown names are not stored, since users type
// passwords into the username field.
func TestUnknownLoginName_NotStored(t *testing.T) {
	const typed = "Hunter2-my-real-password"
	in := start(t)
	in.set("security.login_tries", "2")
	var told []string
	for _, app := range []bool{false, true} {
		for i := range 4 {
			name := typed
			if i == 1 {
				name = strings.ToUpper(typed)
			}
			in.Login(Attempt{App: app, Username: name, Password: "x",
				Addr: netip.MustParseAddr("203.0.113.9"), Observe: func(e kv.CacheEvent) {
					told = append(told, counterUse(e))
				}})
		}
	}

	must(t, in.tidy())
	shown, sixteen := in.fingerprint(typed), regexp.MustCompile(`^[0-9a-f]{16}$`)
	results := map[string]int{}
	in.view(func(tx *store.Tx) error {
		for row, err := range store.LoginLogs.All(tx) {
			must(t, err)
			text, err := json.Marshal(row)
			must(t, err)
			if strings.Contains(strings.ToLower(string(text)), "hunter2") || row.Username != "" ||
				row.Fingerprint != shown || !sixteen.MatchString(row.Fingerprint) {
				t.Errorf("%s", text)
			}
			results[row.Realm+" "+row.Result] += int(row.Count)
		}

		ids, err := store.LoginLogs.FindIDs(tx, kv.Query[store.LoginLog]{Search: shown, Limit: 100})
		if len(ids) != 6 {
			t.Errorf("a search for the fingerprint finds %d rows, %v", len(ids), err)
		}

		return err
	})
	for _, realm := range []string{"admin", "app"} {
		if results[realm+" failed"] != 2 || results[realm+" throttled"] != 2 {
			t.Errorf("%v", results)
		}
	}

	for _, op := range told {
		if strings.Contains(strings.ToLower(op), "hunter2") ||
			strings.Contains(op, "name") && !strings.Contains(op, "#"+shown) {
			t.Errorf("told: %s", op)
		}
	}

	if in.LoggableName(false, typed) != "#"+shown || in.LoggableName(false, "Admin") != "Admin" ||
		in.LoggableName(true, "admin") != "#"+in.fingerprint("admin") {
		t.Error("what may be shown of a name")
	}
}

// TestFingerprint_PerInstallation: another installation computes a different
// fingerprint.
func TestFingerprint_PerInstallation(t *testing.T) {
	one, other := start(t), start(t)
	before := one.fingerprint("text")
	if before == other.fingerprint("text") || before == one.fingerprint("texts") ||
		before != one.fingerprint("TEXT") {
		t.Error("a fingerprint is of one text and one installation, without regard to case")
	}
	one.restart(testCost)
	if one.fingerprint("text") != before {
		t.Error("another fingerprint after a restart")
	}
}
