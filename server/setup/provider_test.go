package setup_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"reeve/embed"
	"reeve/server/servertest"
	"reeve/server/setup"
	"reeve/store"
	"reeve/store/disk/disktest"
)

const signIn = `{"roles":{"Seller":{},"Boss":{"permissions":["system.info"]}},"app_roles":{"Buyer":{}},"departments":{"Sales":{},"Sales/EU":{}},
	"providers":{"corp":{"title":"Corp","issuer":"https://id.example.org/","client_id":"reeve","client_secret":{"secret":"s3cr3t"},
		"scopes":["openid","email"],"domains":["@Example.ORG"],"users":true,"app_users":true,"status":true,
		"mappings":[{"claim":" groups ","value":"sales","roles":["seller","Boss","Seller"],"app_roles":["Buyer"],"department":"sales/eu"},
			{"claim":"groups","value":"all","department":"Sales"}]}}}`

func decodedSignIn(t *testing.T) (values map[string]any) {
	servertest.Must(t, json.Unmarshal([]byte(signIn), &values))
	return values
}

// corp returns the provider of a setup.
func corp(values map[string]any) map[string]any {
	return values["providers"].(map[string]any)["corp"].(map[string]any)
}

// secretOfCorp returns the stored client secret of the provider.
func secretOfCorp(in *servertest.Instance) (secret string) {
	in.View(func(tx *store.Tx) error {
		p, err := store.ProviderByName.Get(tx, "corp")
		if err == nil {
			secret, err = store.ProviderSecretOf(tx, p.ID)
		}
		return err
	})
	return secret
}

// TestProvider_AppliesOnlyDifferences applies a provider whose texts are not in the form in which they
// are stored, changes it, and takes all back.
func TestProvider_AppliesOnlyDifferences(t *testing.T) {
	t.Parallel()
	in := commandLine(t)
	before := in.State()
	apply := func(values map[string]any) []string {
		t.Helper()
		plan := in.OK("POST", "/system/setup/plan", file(t, values, true), "cli")
		made := in.OK("POST", "/system/setup/apply", file(t, values, true), "cli")
		disktest.Equal(t, "applied", changesOf(made), changesOf(plan))
		for _, a := range []*servertest.Reply{plan, made, in.OK("GET", "/system/setup", "", "cli")} {
			if strings.Contains(a.Body, "s3cr3t") {
				t.Errorf("it has the secret: %s", a.Body)
			}
		}
		return changesOf(made)
	}
	values := decodedSignIn(t)
	apply(values)
	first := in.NewestEntry()
	disktest.Equal(t, "again", apply(values), nil)

	var out struct{ Data []store.Provider }
	in.OK("GET", "/system/provider", "", "owner").Data(&out)
	got := out.Data[0]
	ids := map[string]store.ID{}
	for name, url := range map[string]string{"Seller": "/admin/role", "Boss": "/admin/role", "Buyer": "/user/role"} {
		ids[name] = store.ID(recordID(in, url+"?keywordSearch="+name))
	}
	in.View(func(tx *store.Tx) error {
		for d, err := range store.Depts.All(tx) {
			servertest.Must(t, err)
			ids[d.Name] = d.ID
		}
		return nil
	})
	disktest.Equal(t, "mappings", got.Mappings, []store.Mapping{
		{Claim: "groups", Value: "sales", RoleIDs: []store.ID{ids["Seller"], ids["Boss"], ids["Seller"]}, AppRoleIDs: []store.ID{ids["Buyer"]}, DeptID: ids["EU"]},
		{Claim: "groups", Value: "all", RoleIDs: []store.ID{}, AppRoleIDs: []store.ID{}, DeptID: ids["Sales"]},
	})
	disktest.Equal(t, "lists", [][]string{got.Scopes, got.Domains}, [][]string{{"email"}, {"example.org"}})
	if secret := secretOfCorp(in); secret != "s3cr3t" || !bool(got.Status) {
		t.Errorf("secret %q, status %v", secret, got.Status)
	}

	all := exported(in)
	disktest.Equal(t, "exported", corp(all)["mappings"], any([]any{
		map[string]any{"claim": "groups", "value": "sales", "roles": []any{"Boss", "Seller"}, "app_roles": []any{"Buyer"}, "department": "Sales/EU"},
		map[string]any{"claim": "groups", "value": "all", "department": "Sales"}}))
	disktest.Equal(t, "exported secret", corp(all)["client_secret"], any(secret("unset")))

	corp(values)["client_secret"] = secret("another s3cr3t")
	disktest.Equal(t, "another secret", apply(values), []string{"update sign-in provider corp"})
	if secret := secretOfCorp(in); secret != "another s3cr3t" {
		t.Errorf("secret %q", secret)
	}
	for _, e := range in.EntriesSince(0) {
		if strings.Contains(string(servertest.EncodeJSON(t, e)), "s3cr3t") {
			t.Errorf("entry %d has the secret", e.Seq)
		}
	}
	if now := in.NewestEntry(); now != first+1 {
		t.Errorf("another secret has %d entries, want one", now-first)
	}
	corp(values)["client_secret"] = secret("unset")
	disktest.Equal(t, "a secret that stays", apply(values), nil)

	middle := in.State()
	corp(values)["mappings"] = []any{map[string]any{"claim": "groups", "value": "all", "roles": []any{"Boss"}}}
	delete(values["roles"].(map[string]any), "Seller")
	disktest.Equal(t, "without a mapped role", apply(values), []string{"update sign-in provider corp", "delete role Seller"})
	in.OK("POST", fmt.Sprintf("/system/audit/%d/undo", in.NewestEntry()), "", "owner")
	disktest.Equal(t, "after the undo of a change", in.State(), middle)
	in.OK("POST", fmt.Sprintf("/system/audit/%d/undo", first), "", "owner")
	disktest.Equal(t, "after the undo of all", in.State(), before)
}

// TestProvider_Directory applies a directory whose texts are not in the form in which they are stored.
func TestProvider_Directory(t *testing.T) {
	t.Parallel()
	in := commandLine(t)
	values := map[string]any{"providers": map[string]any{"company": map[string]any{"title": "Company", "kind": "ldap",
		"servers": []any{" ldaps://ldap.example.org/ ", "ldap://ldap2.example.org"}, "bind_dn": " cn=reader,dc=example,dc=org ",
		"base_dn": "dc=example,dc=org\n", "client_secret": secret("s3cr3t"), "user_filter": " (uid={username}) ",
		"mappings": []any{map[string]any{"claim": "groups", "value": "cn=all,dc=example,dc=org", "department": "Sales"}}}},
		"departments": map[string]any{"Sales": map[string]any{}}}
	in.OK("POST", "/system/setup/apply", file(t, values, true), "cli")
	disktest.Equal(t, "again", changesOf(in.OK("POST", "/system/setup/apply", file(t, values, true), "cli")), nil)
	var out struct{ Data []store.Provider }
	in.OK("GET", "/system/provider", "", "owner").Data(&out)
	got := out.Data[0]
	want := store.ProposedDirectory(store.KindLDAP)
	want.Servers, want.UserFilter = []string{"ldaps://ldap.example.org", "ldap://ldap2.example.org"}, "(uid={username})"
	want.BindDN, want.BaseDN = "cn=reader,dc=example,dc=org", "dc=example,dc=org"
	disktest.Equal(t, "stored", got.Directory, want)
	values = exported(in)
	disktest.Equal(t, "exported and applied", changesOf(in.OK("POST", "/system/setup/apply", file(t, values, true), "cli")), nil)
}

// TestProvider_FileOfManual applies the setup file in the chapter about providers.
func TestProvider_FileOfManual(t *testing.T) {
	t.Parallel()
	page, err := embed.Manual.ReadFile("manual/sign-in-providers.md")
	servertest.Must(t, err)
	block := regexp.MustCompile("(?s)```toml\n(\\[providers\\.corp\\].*?)```").FindSubmatch(page)
	text, err := setup.Parse(block[1], 100)
	servertest.Must(t, err)
	servertest.Must(t, text.Resolve(func(reference string) (string, error) { return "the text of " + reference, nil }))
	in := commandLine(t)
	in.OK("POST", "/system/setup/apply", file(t, map[string]any{"roles": map[string]any{"Support": map[string]any{}},
		"departments": map[string]any{"Sales": map[string]any{}, "Sales/EU": map[string]any{}}}, false), "cli")
	disktest.Equal(t, "applied", changesOf(in.OK("POST", "/system/setup/apply", file(t, text.Values, false), "cli")),
		[]string{"create sign-in provider corp"})
	if secret := secretOfCorp(in); secret != "the text of env:CORP_CLIENT_SECRET" {
		t.Errorf("secret %q", secret)
	}
}

// TestProvider_UndoOfDeletion brings a provider back without its secret, and says so.
func TestProvider_UndoOfDeletion(t *testing.T) {
	t.Parallel()
	in := commandLine(t)
	in.OK("POST", "/system/setup/apply", file(t, decodedSignIn(t), false), "cli")
	had := in.State()
	disktest.Equal(t, "pruned", changesOf(in.OK("POST", "/system/setup/apply", file(t, map[string]any{}, true), "cli"))[0],
		"delete sign-in provider corp")
	entry := fmt.Sprint("/system/audit/", in.NewestEntry())
	in.OK("GET", entry, "", "owner").Brief(200, `"what":"secret"`)
	in.OK("POST", entry+"/undo", "", "owner")
	now := in.State()
	for record := range had {
		if !strings.HasPrefix(record, "provider_secret ") {
			disktest.Equal(t, record, now[record], had[record])
		}
	}
	if secret := secretOfCorp(in); secret != "" {
		t.Errorf("secret %q", secret)
	}
}

// TestProvider_PruneRefusesConnected prunes a provider with people.
func TestProvider_PruneRefusesConnected(t *testing.T) {
	t.Parallel()
	in := commandLine(t)
	in.OK("POST", "/system/setup/apply", file(t, decodedSignIn(t), false), "cli")
	ann := in.Person("ann").ID
	in.Update(func(tx *store.Tx) error {
		p, err := store.ProviderByName.Get(tx, "corp")
		if err != nil {
			return err
		}
		return store.Identities.Create(tx, &store.Identity{ProviderID: p.ID, Issuer: p.Issuer, Subject: "7", UserID: ann})
	})
	before := in.Dump()
	for _, path := range []string{"plan", "apply"} {
		for _, as := range []string{"cli", "owner"} {
			a := in.Call("POST", "/system/setup/"+path, file(t, map[string]any{"roles": decodedSignIn(t)["roles"]}, true), as)
			disktest.Equal(t, path, a.Envelope().Errors, map[string]string{
				"providers.corp": "sign-in provider corp is still used by 1 connection to a sign-in provider"})
		}
	}
	in.Unchanged(before)
}

// TestProvider_FaultsNameLine sends providers that are wrong: each error names the line.
func TestProvider_FaultsNameLine(t *testing.T) {
	t.Parallel()
	in := commandLine(t)
	before := in.Dump()
	const head = "[providers.corp]\ntitle = 'Corp'\nissuer = 'https://id.example.org'\nclient_id = 'x'\n" // four lines
	const rule = "[[providers.corp.mappings]]\nclaim = 'groups'\nvalue = 'a'\n"
	for text, want := range map[string]string{
		"[providers]\nCorp = 7":                   "line 2 providers.Corp: must be a table",
		head + "colour = 1":                       "line 5 providers.corp.colour: unknown field",
		head + "name = 'other'":                   "line 5 providers.corp.name: unknown field",
		head + "kind = 'saml'":                    "line 5 providers.corp.kind: must be one of",
		head + "client_secret = 7":                "line 5 providers.corp.client_secret: must be a string",
		head + "client_secret.secret = 'env:A'":   "line 5 providers.corp.client_secret: only the command reads secrets",
		head + "mappings = 7":                     "line 5 providers.corp.mappings: must be an array",
		head + "mappings = [7]":                   "line 5 providers.corp.mappings[0]: must be an object",
		head + rule + "role_ids = [1]":            "line 8 providers.corp.mappings[0].role_ids: unknown field",
		head + rule + "rolls = ['A']":             "line 8 providers.corp.mappings[0].rolls: unknown field; did you mean roles?",
		head + rule + "roles = 'A'":               "line 8 providers.corp.mappings[0].roles: must be an array",
		head + rule + rule + "roles = ['A']":      `line 11 providers.corp.mappings[1].roles[0]: role "A" not found`,
		head + rule + "roles = [\n7]":             "line 9 providers.corp.mappings[0].roles[0]: must be a string",
		head + rule + "department = 'Nowhere'":    `line 8 providers.corp.mappings[0].department: department "Nowhere" not found`,
		head + rule + "department = 7":            "line 8 providers.corp.mappings[0].department: must be a string",
		head + rule + "roles = ['" + owner + "']": "line 8 providers.corp.mappings[0].roles[0]: can't give the owner role",
		head + "[[providers.corp.mappings]]\n":    "line 5 providers.corp.mappings[0].claim: is required",
	} {
		for _, path := range []string{"plan", "apply"} {
			refused(t, in, path, text, want)
		}
	}
	for text, want := range map[string]string{ // what the route finds
		strings.ReplaceAll(head, "corp", "Corp"):               "line 1 providers.Corp.name: must be lower-case letters",
		strings.ReplaceAll(head, "id.example.org", "10.0.0.1"): "line 3 providers.corp.issuer: ",
		head + "domains = ['localhost']":                       "line 5 providers.corp.domains: must be domains",
		head + "users = false":                                 "line 5 providers.corp.users: or app_users must be on",
	} {
		refused(t, in, "apply", text, want)
	}
	in.Unchanged(before)
}

// owner is the name of the owner role.
const owner = "Owner"

func refused(t *testing.T, in *servertest.Instance, path, text, want string) {
	t.Helper()
	a := in.Call("POST", "/system/setup/"+path, texts(t, "shop", text), "cli")
	var faults strings.Builder
	for field, fault := range a.Envelope().Errors {
		fmt.Fprintf(&faults, "%s: %s\n", field, fault)
	}
	if a.Code != 422 || !strings.Contains(faults.String(), want) {
		t.Errorf("%s %q: %d %.400s, want %q", path, text, a.Code, a.Body, want)
	}
}

// TestProvider_WhoMayApply lets commands, and owners who have confirmed who they are, apply a provider:
// no other user, no key, and nobody who acts as an owner.
func TestProvider_WhoMayApply(t *testing.T) {
	t.Parallel()
	in := commandLine(t)
	body := file(t, decodedSignIn(t), false)
	in.Clerk("clerk", "system.setup.query", "system.setup.apply", "system.provider.create", "system.provider.update")
	in.OK("POST", "/admin/list", `{"username":"second","password":"long enough it is","role_ids":[1]}`, "owner")
	second := store.ID(recordID(in, "/admin/list?keywordSearch=second"))
	_, in.Tokens["personal"] = in.Key(second, servertest.PersonalKey)
	_, in.Tokens["service"] = in.Key(second, servertest.ServiceKey, func(k *store.APIKey) { k.RoleIDs = in.RoleIDs("clerk") })
	before := in.State()
	for as, want := range map[string]string{"clerk": "owner_required", "personal": "key_not_allowed", "service": "key_not_allowed"} {
		in.Call("POST", "/system/setup/apply", body, as).Brief(403, want)
	}
	in.Stale("admin")
	in.Call("POST", "/system/setup/apply", body, "owner").Brief(403, "reauth_required")
	disktest.Equal(t, "state", in.State(), before)
	in.OK("POST", "/system/setup/plan", body, "owner")
	in.Reauth("owner")
	in.OK("POST", "/system/setup/apply", body, "owner")
	disktest.Equal(t, "by a command", changesOf(in.OK("POST", "/system/setup/apply", body, "cli")), nil)
}
