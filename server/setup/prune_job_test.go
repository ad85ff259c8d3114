package setup_test

import (
	"fmt"
	"strings"
	"testing"

	"reeve/auth"
	"reeve/server/servertest"
	"reeve/server/webhook"
	"reeve/store"
	"reeve/store/disk/disktest"
	"reeve/store/kv"
)

// pruneable returns a file whose pruning takes several steps. Old 000 is the last role that is deleted,
// and accept the last permission.
func pruneable(key string) map[string]any {
	values := map[string]any{
		"webhooks":  map[string]any{"erp": map[string]any{"url": "https://example.org/a", "types": []any{"user.*"}, "secret": secret(webhook.NewSecret())}},
		"providers": map[string]any{"corp": map[string]any{"title": "Corp", "issuer": "https://id.example.org", "client_id": "x", "client_secret": secret("s3cr3t")}},
		"keys":      map[string]any{"shop": map[string]any{"roles": []any{"Old 001"}, "secret": secret(key)}},
		"settings":  map[string]any{"shop.key": map[string]any{"type": "secret", "value": secret("first")}},
		"fields":    map[string]any{"admin.badge": map[string]any{"title": "Badge", "type": "input"}},
	}
	roles := map[string]any{}
	for i := range 120 {
		roles[fmt.Sprintf("Old %03d", i)] = map[string]any{"sort": i}
	}
	values["roles"] = roles
	permissions := map[string]any{"accept": map[string]any{"type": 0}, "depot": map[string]any{"type": 1}}
	for i := range 60 {
		permissions[fmt.Sprintf("busy%03d", i)] = map[string]any{"type": 1}
	}
	values["permissions"], values["setting_groups"] = permissions, map[string]any{"shop": "Shop"}
	return values
}

// pruning returns a copy of the data of an instance whose setup is pruned by a job that was interrupted after its
// first step.
func pruning(t *testing.T, in *servertest.Instance) (dir string) {
	t.Helper()
	in.DB.OnCommit(func(kv.Changes) { // in the writer, so nothing changes at the same time
		in.View(func(tx *store.Tx) error {
			jobs, err := store.JobsIn(tx, store.JobRunning)
			servertest.Must(t, err)
			for _, id := range jobs {
				j, err := store.Jobs.Get(tx, id)
				servertest.Must(t, err)
				if j.Done > 0 && dir == "" {
					dir = copied(t, in.Dir)
				}
			}
			return nil
		})
	})
	in.OK("POST", "/system/setup/apply", file(t, map[string]any{}, true), "cli")
	if dir == "" {
		t.Fatal("no job has pruned the setup")
	}
	return dir
}

// prunedState returns the records of a file, with their secrets and how far the webhook has come.
func prunedState(t *testing.T, in *servertest.Instance) map[string]kv.Fields {
	t.Helper()
	all := in.State()
	for record := range all {
		kind, _, _ := strings.Cut(record, " ")
		switch kind {
		case "role", "setting", "webhook", "api_key", "provider", "custom_field",
			store.Permissions.Name(), store.SettingGroups.Name():
		default:
			delete(all, record)
		}
	}
	in.View(func(tx *store.Tx) error {
		for _, table := range []kv.Table{store.SettingSecrets, store.KeySecrets, store.WebhookSecrets, store.WebhookStates, store.ProviderSecrets, store.SetupMarks} {
			for id := store.ID(1); id < 200; id++ {
				if table.Exists(tx, id) {
					fields, err := table.FieldsOf(tx, id)
					servertest.Must(t, err)
					delete(fields, "updated_at")
					all[fmt.Sprint(table.Name(), " ", id)] = fields
				}
			}
		}
		return nil
	})
	return all
}

// TestSetup_FailedPruningRestores prunes a setup by a job that fails, because something uses by then
// what it has yet to delete, or a custom field has values by then: keys, webhooks and providers are back with
// their secrets, roles have their permissions, and users have the values of the custom field.
func TestSetup_FailedPruningRestores(t *testing.T) {
	t.Parallel()
	in := commandLine(t)
	token, _, _ := auth.NewKey()
	in.OK("POST", "/system/setup/apply", file(t, pruneable(token), false), "cli")
	in.Clerk("holder", "depot", "system.setting.read.shop")
	before, secrets := prunedState(t, in), secretsIn(t, in)
	role := recordID(in, "/admin/role?keywordSearch=Old+000")
	var accept store.ID
	in.View(func(tx *store.Tx) error {
		p, err := store.PermissionByKey.Get(tx, "accept")
		accept = p.ID
		return err
	})
	interrupted := pruning(t, in)

	for name, use := range map[string]func(in *servertest.Instance, clerk store.ID){
		"a user has a role": func(in *servertest.Instance, clerk store.ID) {
			in.OK("PUT", fmt.Sprint("/admin/list/", clerk), fmt.Sprintf(`{"role_ids":[%d]}`, role), "owner")
		},
		"a permission has a child": func(in *servertest.Instance, _ store.ID) {
			in.OK("POST", "/admin/rule", fmt.Sprintf(`{"key":"accept.order","name":"O","type":2,"parent_id":%d}`, accept), "owner")
		},
		"a user has a value of a custom field": func(*servertest.Instance, store.ID) {},
	} {
		t.Run(name, func(t *testing.T) {
			after := servertest.Open(t, copied(t, interrupted))
			defer after.Close()
			after.Tokens["cli"], after.Tokens["owner"] = servertest.ByCommand+"jens", after.SignIn(1)
			for _, table := range []string{"/admin/key", "/system/webhook", "/system/provider"} {
				after.OK("GET", table, "", "owner").Brief(200, `"total":0`)
			}
			clerk := after.Made("/admin/list", `{"username":"clerk","nickname":"C","password":"long enough it is","role_ids":[],"fields":{"badge":"7"}}`)
			use(after, clerk)
			servertest.Must(t, after.Server.Jobs.Resume())
			after.Server.Jobs.Running.Wait()
			for did := true; did; {
				var err error
				did, err = after.Server.Fields.Apply(t.Context())
				servertest.Must(t, err)
			}

			if all := after.Jobs("owner"); len(all) == 0 || all[0].State != store.JobFailed {
				t.Fatalf("%+v", all)
			}
			disktest.Equal(t, "secrets", secretsIn(t, after), secrets)
			restored := prunedState(t, after)
			for record := range before {
				disktest.Equal(t, record, restored[record], before[record])
			}
			after.OK("GET", "/admin/list?keywordSearch=clerk", "", "owner").Brief(200, `"badge":"7"`)
			after.Tokens["shop"] = token
			after.Call("GET", "/admin/list", "", "shop").Brief(403, "permission") // signed in, by a role without permissions
		})
	}
}
