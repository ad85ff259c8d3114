package server_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"reeve/server/servertest"
	"reeve/store"
	"reeve/store/kv"
)

// simpleResource is a resource whose records are listed, created, read, changed and deleted
// at one path. Its entry is all that the tests of every route, field and record need.
type simpleResource struct {
	path string // path of the list; that of a record has its ID added
	body string // creates a record, and has every field; %d makes it unique
	edit string // one of the fields with another value
	id   int    // ID of the record that createSimple creates, if it is not 1
}

// simpleResources must have references to the first department alone.
var simpleResources = []simpleResource{
	{
		path: "/file/group",
		body: `{"name":"Good %d","sort":2,"describe":"one\ntwo"}`,
		edit: `"sort":77`,
	},
	{
		path: "/system/dict",
		body: `{"code":"good%d","name":"N","type":"tag","describe":"d","status":0,"public":1}`,
		edit: `"status":1`,
	},
	{
		path: "/admin/key",
		body: `{"name":"Good %d",` + keyBody + `,"role_ids":[2]}`,
		edit: `"rate_limit":9`,
	},
	{
		path: "/admin/account/key",
		body: `{"name":"Own %d",` + keyBody + `,"role_ids":[1]}`,
		edit: `"rate_limit":9`,
		id:   2,
	},
	{
		path: "/admin/view",
		body: `{"list":"/admin/list","name":"Good %d","query":"status=1","columns":["email"],"shown":[],"hidden":["login_time"],"compact":1,"page_size":20}`,
		edit: `"page_size":50`,
	},
	{
		path: "/system/field",
		body: `{"realm":"admin","key":"good%d","type":"input","title":"T","describe":"d","options":[{"label":"A","value":"a"}],"props":[{"name":"n","value":"v"}],"required":0,"self_access":"read","backend_access":"write","program_access":"read","searchable":0,"filterable":1,"unique":0,"listed":1,"sort":2}`,
		edit: `"sort":77`,
	},
	{
		path: "/system/provider",
		body: `{"name":"good%d","title":"T","kind":"openid","issuer":"https://id.example.org/","client_id":"c","client_secret":"s","scopes":["email"],"domains":["example.org"],"users":1,"app_users":0,"creates":"always","trusts_address":0,"factor_values":["mfa"],"ends_session":1,"mappings":[{"claim":"groups","value":"staff","role_ids":[2]}],"status":0,"sort":1,` +
			`"servers":[],"plain":0,"certificates":"","bind_dn":"","base_dn":"","user_filter":"","id_attribute":"","username_attribute":"","name_attribute":"","email_attribute":"","group_base_dn":"","group_filter":""}`,
		edit: `"sort":77`,
	},
	{
		path: "/system/webhook",
		body: `{"url":"https://example.org/%d","description":"d","types":["role.*"],"status":0}`,
		edit: `"status":1`,
	},
}

// keyBody has the fields of an API key besides its name and roles.
var keyBody = `"data_scope":"dept","dept_ids":[],"networks":["0.0.0.0/0","2001:db8::1"],"rate_limit":100,"status":1,"expires_at":"` + kv.TimeOf(time.Now().Add(30*24*time.Hour)).String() + `"`

// needs creates the records that the bodies of a resource refer to, besides those of createSimple.
func (r *simpleResource) needs(in *servertest.Instance) {
	if strings.Contains(r.body, `"dept_id`) {
		in.Dept("Top", 0)
	}
	if strings.Contains(r.body, `"role_ids":[2]`) {
		in.Person("holder")
	}
}

// first returns the path of the record that createSimple creates.
func (r *simpleResource) first() string { return r.path + "/" + strconv.Itoa(max(r.id, 1)) }

// nth returns a body that differs from those of other numbers.
func (r *simpleResource) nth(n int) string {
	if !strings.Contains(r.body, "%d") {
		return r.body
	}
	return fmt.Sprintf(r.body, n)
}

// createSimple creates the first record of each simple resource.
func createSimple(in *servertest.Instance) {
	in.T.Helper()
	for _, r := range simpleResources {
		in.Create(r.path, r.nth(1))
	}
}

type goodBody = struct{ url, body string }

// withSimpleBodies adds the operations of simple resources to a table of good bodies.
func withSimpleBodies(all map[string]goodBody) map[string]goodBody {
	for _, r := range simpleResources {
		if _, given := all["POST "+r.path]; !given {
			all["POST "+r.path] = goodBody{r.path, r.nth(2)}
		}
		if _, given := all["PUT "+r.path+"/:id"]; !given {
			all["PUT "+r.path+"/:id"] = goodBody{r.first(), r.nth(2)}
		}
	}
	return all
}

// simpleAt returns the simple resource with a path.
func simpleAt(path string) *simpleResource {
	i := slices.IndexFunc(simpleResources, func(r simpleResource) bool { return r.path == path })
	return &simpleResources[i]
}

// withSimpleRecords adds a record of each simple resource.
func withSimpleRecords(all []wholeRecord) []wholeRecord {
	for _, r := range simpleResources {
		all = append(all, wholeRecord{r.path, r.first(), r.first(), r.edit})
	}
	return all
}

func withSimpleDeletions(all map[string]func(*servertest.Instance) []store.ID) map[string]func(*servertest.Instance) []store.ID {
	for _, r := range simpleResources {
		all[r.path] = func(in *servertest.Instance) []store.ID {
			r.needs(in)
			return []store.ID{in.Made(r.path, r.nth(1)), in.Made(r.path, r.nth(2))}
		}
	}
	return all
}
