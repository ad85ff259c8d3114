package server_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"reeve/server"
	"reeve/server/account"
	"reeve/server/openapi"
	"reeve/server/outgoing"
	"reeve/server/servertest"
	"reeve/server/target"
	"reeve/store"
	"reeve/store/kv"
)

var updateGolden = flag.Bool("update", false, "write the golden files anew")

// golden compares JSON with a file in testdata, indented so that changes are readable;
// fields keep their order.
func golden(t *testing.T, name, text string) {
	t.Helper()
	var b bytes.Buffer
	servertest.Must(t, json.Indent(&b, []byte(strings.TrimSpace(text)), "", "  "))
	b.WriteByte('\n')
	path := filepath.Join("testdata", name+".json")
	if *updateGolden {
		servertest.Must(t, os.WriteFile(path, b.Bytes(), 0o644))
		return
	}
	want, err := os.ReadFile(path)
	servertest.Must(t, err)
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("%s (- file, + now; go test -update writes it anew):\n%s", path, diff)
	}
}

func TestOpenAPIDocument_Golden(t *testing.T) {
	t.Parallel()
	golden(t, "openapi", servertest.Start(t).OK("GET", "/openapi.json", "", "nobody").Body)
}

// byKind orders the events of a request by kind, since the order of two in the same
// microsecond is random.
func byKind(t *testing.T, body string) string {
	t.Helper()
	var a struct {
		Data struct {
			Request json.RawMessage   `json:"request"`
			Events  []json.RawMessage `json:"events"`
		} `json:"data"`
		Success  bool   `json:"success"`
		Msg      string `json:"msg"`
		ShowType int    `json:"showType"`
	}
	servertest.Must(t, json.Unmarshal([]byte(body), &a))
	slices.SortStableFunc(a.Data.Events, func(a, b json.RawMessage) int {
		kind := func(event json.RawMessage) string {
			k, _, _ := strings.Cut(string(event), ",")
			return k
		}
		return strings.Compare(kind(a), kind(b))
	})
	sorted, err := json.Marshal(a)
	servertest.Must(t, err)
	return string(sorted)
}

// testedElsewhere are the operations that answer only to a browser that comes from a sign-in provider, or
// to a product to which one returns, or that need a mail server. Tests of packages providers, pages and
// account have them.
var testedElsewhere = map[string]bool{
	"POST /system/backup-target/check":   true, // in package backup, since it needs a copy
	"POST /admin/login/provider":         true,
	"POST /system/provider/:id/test":     true,
	"GET /system/provider-test":          true,
	"POST /admin/account/provider/:name": true,
	"POST /admin/account/provider":       true,
	"POST /admin/reauth/provider/:name":  true,
	"POST /api/login/code":               true,
	"POST /api/login/email":              true,
	"POST /api/login/email-code":         true,
	"POST /auth/login/email":             true,
	"POST /auth/login/email-code":        true,
}

// goldenAnswers has one response of every output type, requested in this order from one
// new database.
var goldenAnswers = []struct{ file, method, url, body string }{
	{"health", "GET", "/health", ""},
	{"login", "POST", "/admin/login",
		`{"username":"admin","password":"` + servertest.OwnerPassword + `"}`},
	{"info", "GET", "/admin/info", ""},
	{"user", "PUT", "/admin/info",
		`{"nickname":"Boss","email":"boss@example.org","mobile":"+49 30 1234","sex":1}`},
	{"permission", "POST", "/admin/rule",
		`{"type":1,"key":"shop","name":"Shop","path":"/shop","icon":"ShopOutlined","local":"menu.shop","sort":5}`},
	{"permission_tree", "GET", "/admin/rule", ""},
	{"role_reach", "POST", "/admin/role-reach", `{"permissions":["admin.list.update"],"data_scope":"dept"}`},
	{"role_presets", "GET", "/admin/role-preset", ""},
	{"choices", "GET", "/admin/choice?of=permission", ""},
	{"parent_tree", "GET", "/admin/rule/parent", ""},
	{"api_key", "POST", "/admin/account/key",
		`{"name":"laptop","expires_at":"` + kv.TimeOf(time.Now().Add(time.Hour)).String() + `"}`},
	{"api_key_one", "GET", "/admin/account/key/1", ""},
	{"check", "POST", "/auth/check",
		`{"user_id":1,"permissions":["system.info","shop.refund"],"explain":1}`},
	{"forward", "POST", "/auth/forward",
		`{"origin":"` + servertest.AppOrigin + `","to":"/orders","state":"` + strings.Repeat("0",
			64) + `"}`},
	{"provider_choices", "GET", "/auth/provider", ""},
	{"provider_people", "GET", "/system/provider-person", ""},
	{"introspection", "POST", "/auth/introspect", "token=unknown"},
	{"setting_group", "POST", "/system/setting-group",
		`{"key":"look","title":"Look","remark":"one\ntwo","public":true}`},
	{"setting_group_list", "GET", "/system/setting-group", ""},
	{"setting", "POST", "/system/setting",
		`{"key":"mode","title":"Mode","describe":"d","type":"select","values":"a","options":[{"label":"A","value":"a"}],"props":[{"name":"width","value":"80"}],"group_id":8,"sort":1}`},
	{"setting_list", "GET", "/system/setting?pageSize=2", ""},
	{"setting_values", "GET", "/system/setting-value", ""},
	{"setting_builtin", "GET", "/system/setting-builtin", ""},
	{"refresh", "POST", "/system/setting/refresh", ""},
	{"nothing", "PUT", "/system/setting", `{"values":{"site.title":"Mine"}}`},
	{"custom_field", "POST", "/system/field",
		`{"realm":"admin","key":"team","type":"select","title":"Team","options":[{"label":"A","value":"a"}],"filterable":1}`},
	{"custom_field_list", "GET", "/system/field", ""},
	{"custom_field_again", "POST", "/system/field/1/apply", ""},
	{"custom_field_forms", "GET", "/system/field-form", ""},
	{"app_field_form", "GET", "/api/field", ""},
	{"dict", "POST", "/system/dict",
		`{"code":"order_state","name":"State of an order","type":"badge","describe":"one\ntwo"}`},
	{"dict_list", "GET", "/system/dict", ""},
	{"dict_item", "POST", "/system/dict/1/item",
		`{"label":"Paid","value":"paid","sort":2,"status":"success"}`},
	{"dict_item_list", "GET", "/system/dict/1/item", ""},
	{"open_dicts", "GET", "/admin/dict", ""},
	{"configuration", "GET", "/config?groups=look,site&dicts=*", ""},
	{"dept", "POST", "/admin/dept",
		`{"name":"Sales","code":"sales","leader":"Ann","phone":"+49 30 1","email":"sales@example.org","sort":1}`},
	{"dept_tree", "GET", "/admin/dept", ""},
	{"role", "POST", "/admin/role",
		`{"name":"Editor","description":"one\ntwo","data_scope":"custom","dept_ids":[1]}`},
	{"role_list", "GET", "/admin/role", ""},
	{"new_user", "POST", "/admin/list",
		`{"username":"ann","dept_id":1,"role_ids":[2],"password":"long enough it is"}`},
	{"sign_in_state", "GET", "/admin/list/2/sign-in", ""},
	{"reset", "PUT", "/admin/list/2/password", `{"password":"long enough it is"}`},
	{"user_list", "GET", "/admin/list", ""},
	{"users_changed", "PUT", "/admin/list?ids=2", `{"dept_id":0}`},
	{"users_to_delete", "DELETE", "/admin/list?ids=2&dry_run=1", ""},
	{"users_signed_out", "DELETE", "/admin/list-session?ids=2", ""},
	{"users_unchanged", "PUT", "/admin/list?ids=2&dry_run=1", `{"dept_id":0}`},
	{"effective", "GET", "/admin/permission/effective?user_id=2", ""},
	{"explain", "GET", "/admin/permission/explain?user_id=2&key=admin.rule.query", ""},
	{"new_app_user", "POST", "/user/list",
		`{"username":"customer","nickname":"C","password":"long enough it is"}`},
	{"app_permission", "POST", "/user/rule",
		`{"key":"app.order.refund","name":"Refund an order","sort":3}`},
	{"app_permission_tree", "GET", "/user/rule", ""},
	{"app_role", "POST", "/user/role",
		`{"name":"Gold","description":"one\ntwo","sort":2,"default":1}`},
	{"app_role_list", "GET", "/user/role", ""},
	{"app_user", "GET", "/user/list/1", ""},
	{"app_users_signed_out", "DELETE", "/user/list-session?all=1&dry_run=1", ""},
	{"app_sign_in_state", "GET", "/user/list/1/sign-in", ""},
	{"app_user_list", "GET", "/user/list", ""},
	{"home", "GET", "/api/home", ""},
	{"session_list", "GET", "/admin/session", ""},
	{"login_log_list", "GET", "/admin/loginlog", ""},
	{"import", "POST", "/admin/list-import?dry_run=1",
		"username,email,roles\nbob,bob@example.org,editor\nx,y,none\n"},
	{"file_group", "POST", "/file/group", `{"name":"Papers","describe":"one\ntwo","sort":1}`},
	{"file_group_list", "GET", "/file/group", ""},
	{"file_upload", "POST", "/file/list", "just a text\n"},
	{"file", "PUT", "/file/list/1", `{"group_id":1,"public":true}`},
	{"file_list", "GET", "/file/list", ""},
	{"file_version", "POST", "/file/list/1/version", "another text\n"},
	{"file_version_list", "GET", "/file/list/1/version", ""},
	{"file_link", "POST", "/file/list/1/link", ""},
	{"file_trashing", "DELETE", "/file/list/1", ""},
	{"file_trash", "GET", "/file/trash", ""},
	{"avatar", "POST", "/admin/avatar", onePixel},
	{"monitor_request", "GET", "/system/monitor/request?pageSize=1&route=/system/setting/refresh",
		""},
	{"monitor_story", "GET", "/system/monitor/request/{refresh}", ""},
	{"monitor_auth", "GET", "/system/monitor/auth?pageSize=1&type=login", ""},
	{"monitor_query", "GET", "/system/monitor/query?pageSize=1&statement=PUT+file_group", ""},
	{"monitor_cache", "GET", "/system/monitor/cache?pageSize=1&type=rebuild", ""},
	{"monitor_throttle", "GET", "/system/monitor/cache?pageSize=1&keywordSearch=throttle:addr", ""},
	{"monitor_redis", "GET", "/system/monitor/redis?pageSize=1", ""},
	{"monitor_stats", "GET", "/system/monitor/stats?from=2020-01-01&to=2020-01-02", ""},
	{"trace", "POST", "/system/monitor/trace", `{"route":"/admin/list","minutes":2}`},
	{"trace_list", "GET", "/system/monitor/trace", ""},
	{"system_info", "GET", "/system/info", ""},
	{"system_health", "GET", "/system/health", ""},
	{"nodes", "GET", "/system/node", ""},
	{"backup_targets", "GET", "/system/backup-target", ""},
	{"backup_files", "GET", "/system/backup-file", ""},
	{"backup_now", "POST", "/system/backup-file", `{"target":"offsite"}`},
	{"system_compact_none", "GET", "/system/compact", ""},
	{"system_compact", "POST", "/system/compact", ""},
	{"import_run", "POST", "/admin/list-import", "username,nickname\nbob,Bob\n"},
	{"job", "GET", "/system/job/1", ""},
	{"job_list", "GET", "/system/job", ""},
	{"audit_change", "PUT", "/system/dict/1", `{"name":"Another name"}`},
	{"audit_list", "GET", "/system/audit?pageSize=1", ""},
	{"audit_entry", "GET", "/system/audit/{newest}", ""},
	{"audit_history", "GET", "/system/history/dict/1", ""},
	{"audit_undo", "POST", "/system/audit/{newest}/undo", ""},
	{"audit_undo_all", "POST", "/system/audit-undo?dry_run=1", `{"by":"user:1","since":"2020-01-01T00:00:00Z","leave_changed":1}`},
	{"webhook_creation", "POST", "/system/webhook",
		`{"url":"http://127.0.0.1:1/hook","description":"A receiver that does not answer","types":["user.*"]}`},
	{"webhook_test", "POST", "/system/webhook/1/test", ""},
	{"webhook_deliveries", "GET", "/system/webhook/1/delivery", ""},
	{"webhook", "GET", "/system/webhook/1", ""},
	{"webhook_list", "GET", "/system/webhook", ""},
	{"event_types", "GET", "/system/event-type", ""},
	{"setup_plan", "POST", "/system/setup/plan",
		`{"files":[{"name":"shop","values":{"permissions":{"store.order.refund":"Refund"},"roles":{"Support":{"permissions":["store.order.refund"]}}}}]}`},
	{"setup_applied", "POST", "/system/setup/apply",
		`{"files":[{"name":"shop","values":{"roles":{"Support":{"permissions":["system.info"]}}}}]}`},
	{"setup", "GET", "/system/setup", ""},
	{"erasure", "POST", "/admin/list/3/erase", `{"username":"bob"}`},
	{"manual", "GET", "/system/manual", ""},
	{"clients", "GET", "/sdk", ""},
	{"own_app_user", "GET", "/api/user", ""},
	{"failure", "POST", "/admin/rule", `{"type":7,"key":"Shop","name":""}`},
	{"setting_flag", "POST", "/system/setting",
		`{"key":"checkout","title":"Checkout","type":"flag","group_id":8,"values":"{\"enabled\":true,\"variants\":{\"on\":true,\"off\":false},\"default\":\"off\",\"rules\":[{\"users\":[1],\"variant\":\"on\"}]}"}`},
	{"flag_preview", "POST", "/system/setting/flag-preview",
		`{"key":"look.checkout","values":"{\"enabled\":true,\"variants\":{\"on\":true,\"off\":false},\"default\":\"off\"}","user_id":1}`},
	{"flags", "POST", "/ofrep/v1/evaluate/flags", `{"context":{"targetingKey":"ignored"}}`},
	{"authzen", "POST", "/access/v1/evaluation", `{"subject":{"type":"user","id":"1"},"action":{"name":"query"},"resource":{"type":"no.such"}}`},
	{"authzen_list", "POST", "/access/v1/evaluations", `{"subject":{"type":"user","id":"1"},"resource":{"type":"admin.list"},"evaluations":[{"action":{"name":"query"}},{}]}`},
	{"authzen_metadata", "GET", "/.well-known/authzen-configuration", ``},
	{"flag", "POST", "/ofrep/v1/evaluate/flags/look.checkout", `{}`},
	{"mail_settings", "PUT", "/system/setting", servertest.MailSettings},
	{"registration_settings", "PUT", "/system/setting",
		`{"values":{"app.registration":1,"app.registration_domains":"example.org"}}`},
	{"registration", "POST", "/api/register",
		`{"username":"newcomer","password":"long enough it is","email":"newcomer@example.org"}`},
	{"challenge_settings", "PUT", "/system/setting", `{"values":{"app.registration_challenge":1}}`},
	{"challenge", "GET", "/api/challenge", ""},
	{"app_user_pending", "GET", "/user/list/2", ""},
	{"new_invited_user", "POST", "/admin/list",
		`{"username":"guest","email":"guest@example.org","invite":"link"}`},
	{"invited_users", "POST", "/admin/invite?ids=4,1", `{"send":1,"copy":1}`},
	{"invitation_list", "GET", "/admin/invite", ""},
	{"one_time_link", "POST", "/admin/list/4/invite", `{"send":1}`},
	{"mail_list", "GET", "/system/mail", ""},
	{"mail", "GET", "/system/mail/1", ""},
	{"mail_test", "POST", "/system/mail-test", `{"email":"boss@example.org"}`},
	{"mail_templates", "GET", "/system/mail-template", ""},
	{"mail_queued", "POST", "/admin/email", `{}`},
	{"link_used", "POST", "/api/password/link",
		`{"token":"` + goldenLink.Token + `","password":"a good password"}`},
	{"passkey_sign_in", "GET", "/admin/login/passkey", ""},
	{"passkey_options", "GET", "/admin/account/passkey-options", ""},
	{"passkey_added", "POST", "/admin/account/passkey", `{"name":"Laptop","credential":{passkey}}`},
	{"passkey_list", "GET", "/admin/account/passkey", ""},
	{"passkey", "PUT", "/admin/account/passkey/1", `{"name":"Old laptop"}`},
	{"passkey_removed", "DELETE", "/admin/account/passkey/1", ""},
	{"act_as", "POST", "/admin/list/2/act-as", `{"reason":"ticket 7"}`},
	{"own_activity", "GET", "/admin/account/activity?pageSize=1", ""},
	{"view", "POST", "/admin/view", `{"list":"/admin/list","name":"Disabled","query":"status=0"}`},
	{"view_list", "GET", "/admin/view", ""},
	{"device_list", "GET", "/admin/account/device", ""},
	{"device", "PUT", "/admin/account/device/1", `{"name":"Laptop"}`},
	{"reauth", "GET", "/admin/reauth", ""},
	{"api_key_deleted", "DELETE", "/admin/account/key/1", ""},
	{"reauth_done", "POST", "/admin/reauth", `{"password":"` + servertest.OwnerPassword + `"}`},
	{"totp_begun", "POST", "/admin/account/totp", ""},
	{"totp_recovery_codes", "PUT", "/admin/account/totp", `{"otp":"{code}"}`},
	{"totp", "GET", "/admin/account/totp", ""},
	{"app_totp", "GET", "/api/user/totp", ""},
	{"failure_unsigned", "GET", "/system/backup", ""},
}

// goldenLink is used in goldenAnswers.
var goldenLink = servertest.NewTestLink(store.PasswordReset, true, 1)

// onePixel is a GIF.
const onePixel = "GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x01D\x00;"

func TestGoldenAnswers(t *testing.T) {
	// Not parallel: others beside it would make writes slow, which the answers show.
	files := fstest.MapFS{"topic.md": {Data: []byte("# A topic\n\nSome [text](other.md).\n")}}
	local, err := outgoing.ParseAllow("webhooks.allow", []string{"127.0.0.1"})
	servertest.Must(t, err)
	in := servertest.Start(t, func(su *servertest.Setup) {
		su.Config.Manual, su.Config.WebhookAllow = files, local
	})

	servertest.Must(t, in.Server.Backups.Configure(target.Set{
		Targets: []target.Config{{Name: "offsite", Path: "/mnt/backup"}},
	}))

	seen := map[reflect.Type]bool{}
	refresh := "" // the request_id of that response
	var app *servertest.Authenticator
	for _, g := range goldenAnswers {
		as := "owner"
		switch g.file {
		case "failure_unsigned":
			as = "nobody"
		case "own_app_user":
			as = "shopper"
			in.AppUser(as)
		case "app_totp":
			as = "shopper"
		}

		var a *servertest.Reply
		if g.file == "link_used" {
			in.Plant(goldenLink, "")
		}
		if strings.HasPrefix(g.file, "monitor_") {
			in.Flush()
			g.url = strings.ReplaceAll(g.url, "{refresh}", refresh)
		}
		if strings.Contains(g.body, "{passkey}") {
			g.body = strings.ReplaceAll(g.body, "{passkey}", newCredential(in, false, true))
		}
		if strings.Contains(g.body, "{code}") {
			g.body = strings.ReplaceAll(g.body, "{code}", app.Code())
		}

		g.url = strings.ReplaceAll(g.url, "{newest}", strconv.FormatUint(in.DB.LogHead().Seq, 10))
		if slices.Contains([]string{"import", "import_run", "file_upload", "file_version", "avatar"}, g.file) {
			a = in.Upload(g.url, g.body, as)
		} else if g.file == "introspection" {
			a = in.Introspect(g.body, as)
		} else {
			a = in.Call(g.method, g.url, g.body, as)
		}
		if g.file == "reauth_done" {
			var out account.ReauthDone
			a.Data(&out)
			in.Tokens["owner"] = out.Token
		}
		if g.file == "totp_begun" {
			app = in.AppOf(a)
		}
		if failing := strings.HasPrefix(g.file, "failure"); failing == (a.Code == http.StatusOK) {
			t.Errorf("%s: %d %s", g.file, a.Code, a.Body)
			continue
		}
		if g.file == "refresh" {
			refresh = a.Header.Get("X-Request-Id")
		}

		body := a.Body
		if g.file == "monitor_story" {
			body = byKind(t, body)
		}

		golden(t, "answers/"+g.file, shapeOf(t, servertest.Steady(body)))
		path, _ := servertest.FindOperation(g.method, strings.Split(g.url, "?")[0])
		for _, rt := range server.Routes() {
			if rt.Method == g.method && openapi.DocumentPath(rt.Path) == path &&
				a.Code == http.StatusOK {
				seen[rt.Output] = true
			}
		}
	}

	for _, r := range simpleResources {
		for _, rt := range slices.Backward(server.Routes()) { // the list has what was created
			name := "answers/" + strings.ReplaceAll(r.path[1:], "/", "_")
			switch {
			case seen[rt.Output] || rt.Path != r.path:
			case rt.Method == "POST":
				golden(t, name,
					shapeOf(t, servertest.Steady(in.OK("POST", r.path, r.nth(3), "owner").Body)))
				seen[rt.Output] = true
			case rt.Method == "GET":
				golden(t, name+"_list",
					shapeOf(t, servertest.Steady(in.OK("GET", r.path, "", "owner").Body)))
				seen[rt.Output] = true
			}
		}
	}

	golden(t, "answers/logout", shapeOf(t, servertest.Steady(in.OK("POST", "/admin/logout", "", "owner").Body)))
	seen[routeNamed(t, "POST /admin/logout").Output] = true
	for _, rt := range server.Routes() {
		if rt.Binary == "" && !seen[rt.Output] && !testedElsewhere[rt.Name()] {
			t.Errorf("%s answers %s: add a request for it to goldenAnswers in server/golden_test.go, then run go test -run GoldenAnswers -update", rt.Name(), rt.Output)
		}
	}
}
