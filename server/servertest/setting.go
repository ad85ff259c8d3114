package servertest

import (
	"encoding/json"
	"fmt"
	"github.com/google/go-cmp/cmp"
	"strings"
	"testing"

	"reeve/store"
)

// Lacks checks that a response does not have some texts.
func (a *Reply) Lacks(texts ...string) {
	a.T.Helper()
	for _, text := range texts {
		if strings.Contains(a.Body, text) {
			a.T.Errorf("the response has %q: %s", text, a.Body)
		}
	}
}

// With returns a valid body with one field replaced; value is JSON.
func With(t testing.TB, body, field, value string) string {
	t.Helper()
	object := DecodeObject(t, body)
	object[field] = rawJSON(value)
	return string(EncodeJSON(t, object))
}

// FlagGroup creates a setting group.
func (in *Instance) FlagGroup(key string, public bool) store.ID {
	in.T.Helper()
	return in.Made("/system/setting-group",
		fmt.Sprintf(`{"key":%q,"title":"Flags","public":%t}`, key, public))
}

// Flag creates a feature flag.
func (in *Instance) Flag(group store.ID, key, values string) store.ID {
	in.T.Helper()
	return in.Made("/system/setting",
		fmt.Sprintf(`{"key":%q,"title":"Flag","type":"flag","group_id":%d,"values":%q}`, key,
			group, values))
}

// OnFor is a boolean flag that is on for those whom a condition matches.
func OnFor(conditions string) string {
	return `{"enabled":true,"variants":{"on":true,"off":false},"default":"off","rules":[{` + conditions + `,"variant":"on"}]}`
}

// OneFlag and AllFlags are the paths of the flag protocol.
const OneFlag, AllFlags = "/ofrep/v1/evaluate/flags/", "/ofrep/v1/evaluate/flags"

// Evaluates fails unless the caller gets the value, as JSON, of a flag.
func (in *Instance) Evaluates(key, context, as, want string) {
	in.T.Helper()
	in.Call("POST", OneFlag+key, `{"context":`+context+`}`, as).Brief(200, `"key":"`+key+`"`,
		`"value":`+want+`,"metadata":{`)
}

// OwnSetting returns the URL of the nth setting that is not built in.
func OwnSetting(n int) string { return fmt.Sprintf("/system/setting/%d", len(store.Builtins)+n) }

// CreateAppRole creates app permission 2 below 1, and app role 1.
func (in *Instance) CreateAppRole() {
	in.Create("/user/rule", `{"key":"app.order","name":"Orders"}`)
	in.Create("/user/rule", `{"key":"app.order.refund","name":"Refund","parent_id":1,"sort":5}`)
	in.Create("/user/role", `{"name":"Gold","description":"d","sort":5}`)
}

// Record returns the data of a response.
func Record(a *Reply) []byte { return a.Envelope().Data }

// TwoOptions are options of a setting.
const TwoOptions = `[{"label":"A","value":"a"},{"label":"B","value":"b"}]`

// SameJSON compares JSON without rounding numbers.
func SameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	read := func(text string) (v any) {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		Must(t, d.Decode(&v))
		return v
	}
	return cmp.Equal(read(a), read(b))
}
