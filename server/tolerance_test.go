package server_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"reeve/server/servertest"
)

// Input that clients may write in more than one form.

func TestTimeRange_LocalTime(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	var made struct {
		CreatedAt string `json:"created_at"`
	}
	in.OK("POST", "/system/dict", `{"code":"a","name":"A"}`, "owner").Data(&made)
	at, err := time.Parse(time.RFC3339Nano, made.CreatedAt)
	servertest.Must(t, err)
	shanghai, err := time.LoadLocation("Asia/Shanghai")
	servertest.Must(t, err)
	second := at.In(shanghai).Format(time.DateTime)
	before := at.In(shanghai).Add(-time.Second).Format(time.DateTime)
	day := at.In(shanghai).Format(time.DateOnly)
	for _, c := range []struct {
		from, to, tz string
		found        bool
	}{
		{second, second, "Asia/Shanghai", true},
		{second, second, "+08:00", true},
		{second, second, "", false},
		{second, second, "America/New_York", false},
		{before, before, "Asia/Shanghai", false},
		{"", second, "Asia/Shanghai", true},
		{day, day, "Asia/Shanghai", true},
		{at.Format(time.DateTime), at.Format(time.DateTime), "", true},
		{made.CreatedAt, made.CreatedAt, "Asia/Shanghai", true}, // has a time zone of its own
	} {
		query := url.Values{"created_at[]": {c.from, c.to}, "tz": {c.tz}}.Encode()
		if a := in.OK("GET", "/system/dict?"+query, "", "owner"); strings.Contains(a.Body,
			`"total":1`) != c.found {
			t.Errorf("%+v: %s", c, a.Body)
		}
	}

	for _, tz := range []string{"Mars/Olympus", "Local", "../../etc/passwd", "8",
		strings.Repeat("x", 100)} {
		in.Call("GET", "/system/dict?tz="+url.QueryEscape(tz), "", "owner").Names(400, "tz")
	}
}

func TestIgnoredFields(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t, func(s *servertest.Setup) {
		s.Config.IgnoredFields = []string{"rePassword", "username"}
	})
	in.OK("POST", "/admin/list",
		`{"username":"ann","password":"a long password","rePassword":"a long password"}`, "owner").Brief(200, `"username":"ann"`)
	in.Call("POST", "/admin/list", `{"username":"bob","repassword":"x"}`, "owner").Names(400,
		"repassword")
	in.Call("POST", "/system/setting",
		`{"key":"k","title":"T","type":"select","group_id":1,"options":[{"label":"a","value":"a","rePassword":"x"}]}`, "owner").Names(400, "options[0].rePassword")
}

// TestValidation_AllFaultsReported also checks that the message is about the first fault.
func TestValidation_AllFaultsReported(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	for _, c := range []struct {
		body   string
		code   int
		fields []string
		msg    string
	}{
		{`{"username":"x y","email":"no","sex":"x","nonsense":1}`, 422,
			[]string{"username", "email", "sex", "nonsense"},
			"username: must contain only letters, digits, periods, underscores and hyphens; 3 more fields are invalid"},
		{`{"email":"no","nonsense":1}`, 422, []string{"username", "email", "nonsense"},
			"username: is required; 2 more fields are invalid"},
		{`{"username":"ann","nonsense":1,"other":2}`, 400, []string{"nonsense", "other"},
			"nonsense: unknown field; 1 more field is invalid"},
		{`{"nonsense":1}`, 400, []string{"username", "nonsense"},
			"username: is required; 1 more field is invalid"},
		{`{}`, 422, []string{"username"}, "username: is required"},
	} {
		a := in.Call("POST", "/admin/list", c.body, "owner")
		a.Names(c.code, c.fields...)
		if msg := a.Envelope().Msg; msg != c.msg {
			t.Errorf("%s: %q", c.body, msg)
		}
	}

	in.Call("POST", "/system/setting",
		`{"key":"k","title":"T","type":"select","group_id":1,"options":[{"label":1,"value":"a"}],"sort":"x"}`, "owner").
		Brief(422, `"msg":"options[0].label: must be a string; 1 more field is invalid"`)
}
