package rights_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"reeve/server/servertest"
)

// todo is an instance with the permissions of the to-do application of the interoperability events. rick
// has all of them and beth may read; summer is disabled.
func todo(t *testing.T) *servertest.Instance {
	t.Helper()
	in := servertest.Start(t)
	keys := []string{"user.can_read_user", "todo.can_read_todos", "todo.can_create_todo", "todo.can_update_todo", "todo.can_delete_todo"}
	for _, key := range keys {
		in.OK("POST", "/admin/rule", fmt.Sprintf(`{"type":2,"key":%q,"name":%q}`, key, key), "owner")
	}
	in.Clerk("rick", keys...)
	in.Clerk("beth", keys[:2]...)
	in.Clerk("summer", keys...)
	in.OK("PUT", fmt.Sprintf("/admin/list/%d/status", in.Person("summer").ID), `{"status":0}`, "owner")
	in.Program()
	return in
}

// decided returns the body of a response without spaces.
func decided(in *servertest.Instance, path, body string) string {
	in.T.Helper()
	a := in.Call("POST", path, body, "program")
	if a.Code != 200 {
		in.T.Errorf("%s: %d %s", body, a.Code, a.Body)
	}
	return strings.TrimSpace(a.Body)
}

func TestAuthZEN_Evaluation(t *testing.T) {
	t.Parallel()
	in := todo(t)
	const no = `{"decision":false,"context":{"reason":%q}}`
	for request, want := range map[string]string{
		`{"subject":{"type":"user","id":"rick"},"action":{"name":"can_read_user"},"resource":{"type":"user","id":"beth@the-smiths.com"}}`:                                                          `{"decision":true}`,
		`{"subject":{"type":"user","id":"rick"},"action":{"name":"can_update_todo"},"resource":{"type":"todo","id":"7240d0db-8ff0-41ec-98b2-34a096273b9f","properties":{"ownerID":"x"}}}`:          `{"decision":true}`,
		`{"subject":{"type":"user","id":"beth","properties":{"a":1}},"action":{"name":"can_read_todos","properties":{}},"resource":{"type":"todo","id":"todo-1"},"context":{"time":"x"},"more":1}`: `{"decision":true}`,
		`{"subject":{"type":"user","id":"beth"},"action":{"name":"can_delete_todo"},"resource":{"type":"todo","id":"1"}}`:                                                                          fmt.Sprintf(no, "not_granted"),
		`{"subject":{"type":"user","id":"summer"},"action":{"name":"can_delete_todo"},"resource":{"type":"todo","id":"1"}}`:                                                                        fmt.Sprintf(no, "user_disabled"),
		`{"subject":{"type":"user","id":"nobody"},"action":{"name":"can_read_todos"},"resource":{"type":"todo","id":"1"}}`:                                                                         fmt.Sprintf(no, "unknown_subject"),
		`{"subject":{"type":"app_user","id":"rick"},"action":{"name":"can_read_todos"},"resource":{"type":"todo","id":"1"}}`:                                                                       fmt.Sprintf(no, "unknown_subject"),
		`{"subject":{"type":"user","id":"999"},"action":{"name":"can_read_todos"},"resource":{"type":"todo","id":"1"}}`:                                                                            fmt.Sprintf(no, "unknown_subject"),
		`{"subject":{"type":"user","id":"rick"},"action":{"name":"can_fly"},"resource":{"type":"todo","id":"1"}}`:                                                                                  fmt.Sprintf(no, "unknown_permission"),
		fmt.Sprintf(`{"subject":{"type":"user","id":"%d"},"action":{"name":"can_read_todos"},"resource":{"type":"todo","id":"1"}}`, in.Person("beth").ID):                                          `{"decision":true}`,
	} {
		if got := decided(in, "/access/v1/evaluation", request); got != want {
			t.Errorf("%s:\n got %s\nwant %s", request, got, want)
		}
	}
}

func TestAuthZEN_AppUsers(t *testing.T) {
	t.Parallel()
	in := servertest.Shop(t)
	in.OK("PUT", "/user/list/1", `{"role_ids":[1]}`, "owner")
	for action, want := range map[string]string{"refund": `{"decision":true}`, "fly": `{"decision":false,"context":{"reason":"unknown_permission"}}`} {
		for _, id := range []string{"customer", "1"} {
			body := fmt.Sprintf(`{"subject":{"type":"app_user","id":%q},"action":{"name":%q},"resource":{"type":"app.order"}}`, id, action)
			if got := decided(in, "/access/v1/evaluation", body); got != want {
				t.Errorf("%s: %s", body, got)
			}
		}
	}
}

func TestAuthZEN_Evaluations(t *testing.T) {
	t.Parallel()
	in := todo(t)
	const yes, no, bad = `{"decision":true}`, `{"decision":false,"context":{"reason":"not_granted"}}`, `{"decision":false,"context":{"reason":"invalid_request"}}`
	whole := `"subject":{"type":"user","id":"beth"},"action":{"name":"can_read_todos"},"resource":{"type":"todo","id":"1"}`
	for request, want := range map[string]string{
		`{` + whole + `}`:                  yes,
		`{` + whole + `,"evaluations":[]}`: yes,
		`{` + whole + `,"evaluations":[{},{"action":{"name":"can_delete_todo"}},{"subject":{"type":"user","id":"rick"},"action":{"name":"can_delete_todo"}}]}`: `{"evaluations":[` + yes + `,` + no + `,` + yes + `]}`,
		`{` + whole + `,"evaluations":[{},{"action":{"name":"can_delete_todo"}},{}],"options":{"evaluations_semantic":"deny_on_first_deny"}}`:                  `{"evaluations":[` + yes + `,` + no + `]}`,
		`{` + whole + `,"evaluations":[{"action":{"name":"can_delete_todo"}},{},{}],"options":{"evaluations_semantic":"permit_on_first_permit"}}`:              `{"evaluations":[` + no + `,` + yes + `]}`,
		`{` + whole + `,"evaluations":[{"action":{"name":"can_delete_todo"}},{}],"options":{"evaluations_semantic":"execute_all","more":1}}`:                   `{"evaluations":[` + no + `,` + yes + `]}`,
		`{` + whole + `,"evaluations":[7,{"subject":null},{"action":{"name":7}},{"resource":"x"},{"subject":{"type":"robot","id":"1"}}]}`:                      `{"evaluations":[` + yes + `,` + bad + `,` + bad + `,` + bad + `,` + bad + `]}`,
		`{"evaluations":[{` + whole + `},{"action":{"name":"can_read_todos"}}]}`:                                                                               `{"evaluations":[` + yes + `,` + bad + `]}`,
	} {
		if got := decided(in, "/access/v1/evaluations", request); got != want {
			t.Errorf("%s:\n got %s\nwant %s", request, got, want)
		}
	}
	if a := in.Call("POST", "/access/v1/evaluations", `{`+whole+`,"evaluations":[`+strings.Repeat("{},", 100)+`{}]}`, "program"); a.Code != 400 {
		t.Errorf("101 questions: %d", a.Code)
	}
}

func TestAuthZEN_Refused(t *testing.T) {
	t.Parallel()
	in := todo(t)
	const whole = `{"subject":{"type":"user","id":"rick"},"action":{"name":"can_read_todos"},"resource":{"type":"todo","id":"1"}}`
	for _, path := range []string{"/access/v1/evaluation", "/access/v1/evaluations"} {
		for _, body := range []string{``, `{`, `[]`, `{}`, `{"subject":{"type":"user","id":"rick"}}`, strings.Replace(whole, `"rick"`, `7`, 1),
			strings.Replace(whole, `"user"`, `"robot"`, 1), strings.Replace(whole, `"can_read_todos"`, `""`, 1),
			strings.Replace(whole, `"rick"`, `"`+strings.Repeat("r", 10_000)+`"`, 1)} {
			a := in.Call("POST", path, body, "program")
			var e struct{ Message string }
			if err := json.Unmarshal([]byte(a.Body), &e); a.Code != 400 || err != nil || e.Message == "" {
				t.Errorf("%s: %d %s", body, a.Code, a.Body)
			}
		}
		for who, code := range map[string]int{"nobody": 401, "rick": 403} {
			if who == "rick" {
				in.Tokens[who] = in.KeyOf(in.Person("rick"), servertest.ServiceKey)
			}
			if a := in.Call("POST", path, whole, who); a.Code != code {
				t.Errorf("%s: %d %s", who, a.Code, a.Body)
			}
		}
	}
	// Users outside the data scope of the key are unknown to it.
	role := in.Role("Checks of a department", nil, "auth.check")
	in.NewKey("narrow", "/admin/key", fmt.Sprintf(`{"name":"narrow","role_ids":[%d],"data_scope":"self"}`, role), "owner")
	if a := in.Call("POST", "/access/v1/evaluation", whole, "narrow"); !strings.Contains(a.Body, "unknown_subject") {
		t.Errorf("outside the data scope: %d %s", a.Code, a.Body)
	}
}

func TestAuthZEN_Metadata(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t, func(s *servertest.Setup) { s.Config.PublicURL = "https://reeve.example.org/base" })
	want := `{"policy_decision_point":"https://reeve.example.org/base","access_evaluation_endpoint":"https://reeve.example.org/base/access/v1/evaluation","access_evaluations_endpoint":"https://reeve.example.org/base/access/v1/evaluations"}`
	if a := in.Call("GET", "/.well-known/authzen-configuration", "", "nobody"); a.Code != 200 || strings.TrimSpace(a.Body) != want {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	if a := servertest.Start(t, func(s *servertest.Setup) { s.Config.PublicURL = "" }).Call("GET", "/.well-known/authzen-configuration", "", "nobody"); a.Code != 404 {
		t.Errorf("without a URL: %d %s", a.Code, a.Body)
	}
}
