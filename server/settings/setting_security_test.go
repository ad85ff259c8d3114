package settings_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"reeve/server/servertest"
	"reeve/store"
)

// weaker has, by setting, values within the bounds that weaken security.
var weaker = map[string]string{
	"security.session_idle_minutes": "10080", "security.session_hours": "720",
	"security.password_length": "9", "security.password_history": "5", "security.login_tries": "50",
	"security.login_window_minutes": "5", "security.login_log_days": "365",
	"security.login_log_rows": "200000",
	"app.registration":        "1", "app.session_idle_hours": "2160", "app.session_days": "365",
	"file.free_megabytes":   "64",
	"security.key_max_days": "3650", "security.key_rate_limit": "100000000",
	"security.personal_keys": "0", "security.session_network": "1",
	"security.reauth_minutes": "60", "security.factor_grace_days": "30",
	"security.require_factor": "owners", "security.provider_session_hours": "720", "security.provider_key_days": "0",
	"security.password_sign_in": "0", "app.password_sign_in": "0",
	"mail.enabled": "1", "app.delete_account": "0", "app.pages": "1",
	"app.code_sign_in":         "1",
	"app.passkeys":             "1",
	"app.second_factor":        "1",
	"app.registration_confirm": "1", "app.registration_challenge": "1",
	"app.registration_domains": "example.org",
}

// value returns the stored value of a setting.
func value(in *servertest.Instance, name string) (text string) {
	in.T.Helper()
	in.View(func(tx *store.Tx) error {
		s, err := store.Settings.Get(tx, store.SettingCache.Get(tx).ID(name))
		if err == nil {
			text = s.Values
		}
		return err
	})
	return text
}

// TestSecuritySettings_NeedPermission covers every route that changes a value.
func TestSecuritySettings_NeedPermission(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.View(func(tx *store.Tx) error {
		var names []string
		for s, err := range store.Settings.All(tx) {
			servertest.Must(t, err)
			name, err := store.SecuritySetting(tx, s)
			servertest.Must(t, err)
			if name != "" {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		if want := slices.Sorted(maps.Keys(weaker)); !slices.Equal(names, want) {
			t.Errorf("security settings are %q, tested are %q", names, want)
		}
		return nil
	})
	all := []string{"system.setting.save", "system.setting.update", "system.setting.query"}
	in.Clerk("editor", all...)
	in.Clerk("guard", append(all, store.SecurityPermission)...)
	in.SetUpFactor("guard")              // who requires one of others
	in.Update(func(tx *store.Tx) error { // who turns passwords off for others
		p := &store.Provider{Name: "idp", Users: true, AppUsers: true, Status: true}
		guard, err := store.UserByName.Get(tx, "guard")
		if err == nil {
			err = store.Providers.Create(tx, p)
		}
		if err != nil {
			return err
		}
		return store.Identities.Create(tx, &store.Identity{ProviderID: p.ID, Subject: "guard", UserID: guard.ID})
	})
	in.Clerk("alone", store.SecurityPermission)
	for _, name := range slices.Sorted(maps.Keys(weaker)) {
		old := value(in, name)
		save := fmt.Sprintf(`{"values":{"site.title":"Changed","%s":%q}}`, name, weaker[name])
		one := fmt.Sprintf("/system/setting/%d", in.Setting(name))
		in.Call("PUT", "/system/setting", save, "editor").Brief(403, store.SecurityPermission, name)
		in.Call("PUT", one, fmt.Sprintf(`{"values":%q}`, weaker[name]), "editor").Brief(403,
			store.SecurityPermission)
		in.Call("PUT", "/system/setting", save, "alone").Brief(403, "system.setting.save")
		if got := value(in, name); got != old || value(in, "site.title") == "Changed" {
			t.Errorf("%s is %s after it was refused", name, got)
		}
		// Without a new value, the permission of the route is enough.
		in.OK("PUT", "/system/setting", fmt.Sprintf(`{"values":{"%s":%q}}`, name, old), "editor")
		in.OK("PUT", one, `{"describe":"other words"}`, "editor")
		in.OK("PUT", one, fmt.Sprintf(`{"values":%q}`, weaker[name]), "guard")
		if got := value(in, name); got != weaker[name] {
			t.Errorf("%s is %s, want %s", name, got, weaker[name])
		}
	}

	in.OK("PUT", "/system/setting", `{"values":{"site.title":"Changed"}}`, "editor")
}

// TestSecuritySettings_PermissionAtChange checks the permission in the transaction of the change,
// like any other permission.
func TestSecuritySettings_PermissionAtChange(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Clerk("guard", "system.setting.save", store.SecurityPermission)
	in.OK("PUT", "/system/setting", `{"values":{"security.login_tries":6}}`, "guard")
	url := fmt.Sprintf("/admin/rule/%d", in.Permission(store.SecurityPermission))
	in.Call("DELETE", url, "", "owner").Brief(409, `"errorCode":"in_use"`)
	in.OK("PUT", url+"/status", `{"status":0}`, "owner")
	in.Call("PUT", "/system/setting", `{"values":{"security.login_tries":7}}`, "guard").Brief(403,
		store.SecurityPermission)
	in.OK("PUT", "/system/setting", `{"values":{"security.login_tries":7}}`, "owner")
	in.OK("GET", "/admin/permission/explain?user_id=1&key="+store.SecurityPermission, "", "owner").Brief(200, `"allowed":true`)
}

func TestSecuritySettings_ChangesLogged(t *testing.T) {
	t.Parallel()
	var log servertest.Log
	in := servertest.Start(t, func(su *servertest.Setup) { su.Log = &log })
	entries := func() (all []map[string]any) {
		for line := range strings.Lines(log.String()) {
			entry := map[string]any{}
			servertest.Must(t, json.Unmarshal([]byte(line), &entry))
			if entry["level"] == "warn" && entry["setting"] != nil {
				all = append(all, entry)
			}
		}
		log.Reset()
		return all
	}

	in.OK("PUT", "/system/setting", `{"values":{"security.login_tries":5,"site.title":"Mine"}}`,
		"owner")
	in.Call("PUT", "/system/setting",
		`{"values":{"security.login_tries":6,"security.session_hours":100000}}`, "owner").Brief(422)
	if got := entries(); len(got) != 0 {
		t.Errorf("what changed nothing is logged: %v", got)
	}

	r := in.OK("PUT", "/system/setting",
		`{"values":{"security.login_tries":7,"app.registration":true}}`, "owner")
	got := entries()
	if len(got) != 2 {
		t.Fatalf("%v", got)
	}

	for i, want := range []map[string]any{{"setting": "app.registration", "old": "0", "new": "1"}, {
		"setting": "security.login_tries",
		"old":     "5",
		"new":     "7",
	}} {
		for name, value := range want {
			if got[i][name] != value {
				t.Errorf("%v, want %v", got[i], want)
			}
		}
		if got[i]["user"] != "admin" || got[i]["request"] != r.Header.Get("X-Request-Id") {
			t.Errorf("%v", got[i])
		}
	}

	in.OK("PUT", fmt.Sprintf("/system/setting/%d", in.Setting("security.session_hours")),
		`{"values":"24"}`, "owner")
	if got := entries(); len(got) != 1 || got[0]["old"] != "12" || got[0]["new"] != "24" {
		t.Errorf("%v", got)
	}
}

// TestSecuritySettings_RetentionOnlyRaised: a setting can't shorten the retention of the login log.
func TestSecuritySettings_RetentionOnlyRaised(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	for name, steps := range map[string][]string{
		"security.login_log_days": {"30", "89"},
		"security.login_log_rows": {"10000", "99999"},
	} {
		for _, lower := range steps {
			in.Call("PUT", "/system/setting", fmt.Sprintf(`{"values":{"%s":%s}}`, name, lower),
				"owner").Brief(422, `"values.`+name+`":`, "configuration file")
			in.Call("PUT", fmt.Sprintf("/system/setting/%d", in.Setting(name)),
				fmt.Sprintf(`{"values":%q}`, lower), "owner").Brief(422, `"values":`,
				"configuration file")
		}
		before := value(in, name)
		raised := before + "1"
		in.OK("PUT", "/system/setting", fmt.Sprintf(`{"values":{"%s":%s}}`, name, raised), "owner")
		in.Call("PUT", "/system/setting", fmt.Sprintf(`{"values":{"%s":%s}}`, name, before),
			"owner").Brief(422, raised)
	}
}

// TestSecuritySettings_HardBounds checks that the bounds hold for owners, too.
func TestSecuritySettings_HardBounds(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	for name, beyond := range map[string][]int{
		"security.session_idle_minutes": {4, 10081}, "security.session_hours": {0, 721},
		"security.password_length": {7, 129}, "security.login_tries": {0, 51},
		"security.login_window_minutes": {4, 1441}, "security.login_log_days": {29, 3651},
		"security.login_log_rows":    {9999, 10_000_001},
		"security.factor_grace_days": {-1, 91}, "security.password_history": {-1, 11},
		"security.reauth_minutes": {0, 1441}, "app.session_idle_hours": {0, 2161},
		"app.session_days": {0, 366}, "file.free_megabytes": {63},
	} {
		for _, n := range beyond {
			in.Call("PUT", "/system/setting", fmt.Sprintf(`{"values":{"%s":%d}}`, name, n),
				"owner").Brief(422, `"values.`+name+`":`)
		}
	}
}

// TestUpgrade_MovesValuesIntoBounds: the nearest value within them.
func TestUpgrade_MovesValuesIntoBounds(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	for name, c := range map[string]struct{ old, want string }{
		"security.login_log_days": {"1", "30"}, "security.login_tries": {"1000", "50"},
		"security.session_hours": {"8760", "720"},
		"app.session_days":       {"3650", "365"}, "file.free_megabytes": {"0", "64"},
		"security.login_window_minutes": {"1", "5"}, "security.password_length": {"x", "8"},
	} {
		in.Update(func(tx *store.Tx) error {
			_, err := store.Settings.Update(tx, store.SettingCache.Get(tx).ID(name),
				func(s *store.Setting) error {
					s.Props, s.Values = []store.Prop{}, c.old // as stored by an older version
					if _, err := strconv.Atoi(c.old); err != nil {
						s.Type = "input"
					}
					return nil
				})
			if err != nil {
				return err
			}
			return store.AddBuiltins(tx, nil, nil)
		})
		if got := value(in, name); got != c.want {
			t.Errorf("%s was %s and is %s, want %s", name, c.old, got, c.want)
		}
	}
}
