package account_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reeve/server/servertest"
	"reeve/store"
)

// TestUnknownLoginName_NotRecorded checks that an unknown name is not recorded, since it may be a
// password. A fingerprint identifies repeated attempts instead.
func TestUnknownLoginName_NotRecorded(t *testing.T) {
	t.Parallel()
	const typed = "Hunter2-is-my-password"
	var log servertest.Log
	in := servertest.Start(t, func(s *servertest.Setup) { s.Log = &log })
	for range 7 { // the sixth and seventh are throttled
		in.Call("POST", "/admin/login", `{"username":"`+typed+`","password":"wrong"}`, "nobody")
	}

	in.Call("POST", "/api/login?username="+typed, `{"username":"`+typed+`","password":"wrong"}`,
		"nobody")
	in.Call("POST", "/api/login", `{"username":"`+typed+`","password":"wrong"}`, "nobody")
	in.Call("POST", "/api/register", `{"username":"`+typed+`","password":"long enough it is"}`,
		"nobody").Brief(403, "registration_closed")
	in.Call("POST", "/admin/login", `{"username":"ADMIN","password":"wrong"}`, "nobody").Brief(401)
	in.Flush()

	shown := in.Auth.LoggableName(false, typed)
	if len(shown) != 17 || shown != in.Auth.LoggableName(true, strings.ToUpper(typed)) {
		t.Errorf("the fingerprint is %q", shown)
	}

	answers := map[string]string{}
	for _, list := range []string{"request", "auth", "query", "cache", "redis"} {
		answers[list] = in.OK("GET", "/system/monitor/"+list+"?pageSize=100", "", "owner").Body
	}

	in.View(func(tx *store.Tx) error {
		for row, err := range store.LoginLogs.All(tx) {
			servertest.Must(t, err)
			if row.Username == "" && row.Fingerprint != shown[1:] {
				t.Errorf("%+v", row)
			}
		}
		return nil
	})
	answers["traces"] = in.OK("GET", "/system/monitor/trace", "", "owner").Body
	answers["login log"] = in.OK("GET", "/system/loginlog?keywordSearch="+shown[1:], "", "owner").Body
	for name, want := range map[string]string{
		"auth":      `"username":"` + shown + `"`,
		"cache":     shown,
		"login log": `"fingerprint":"` + shown[1:] + `"`,
	} {
		if strings.Count(answers[name], want) < 6 {
			t.Errorf("%s lacks %s: %s", name, want, answers[name])
		}
	}

	if !strings.Contains(answers["auth"], `"username":"ADMIN"`) {
		t.Errorf("the name of a user is not shown: %s", answers["auth"])
	}

	answers["log"] = log.String()
	in.Close()
	servertest.Must(t, filepath.WalkDir(in.Dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			var b []byte
			b, err = os.ReadFile(path)
			answers[path] = string(b)
		}
		return err
	}))
	for name, text := range answers {
		if strings.Contains(strings.ToLower(text), "hunter2") {
			t.Errorf("%s has what was typed", name)
		}
	}
}
