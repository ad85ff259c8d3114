package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"reeve/store"
)

const plainSecret = "hunter2-plain-secret"

// vault returns an instance with the secret setting g.key, and the URL and ID of
// the setting.
func vault(t *testing.T, plain string) (*instance, string, store.ID) {
	t.Helper()
	in := start(t)
	in.create("/system/setting-group", `{"key":"g","title":"G"}`)
	id := in.create("/system/setting", fmt.Sprintf(`{"key":"key","title":"Key","type":"secret","values":%q,"group_id":7}`, plain))
	return in, fmt.Sprintf("/system/setting/%d", id), store.ID(id)
}

// secret returns the decrypted value.
func (in *instance) secret(id store.ID) (plain string) {
	in.t.Helper()
	in.view(func(tx *store.Tx) (err error) {
		plain, err = store.SettingSecretText(tx, id)
		return err
	})
	return plain
}

func TestSettingSecret_NeverReturned(t *testing.T) {
	t.Parallel()
	in, url, id := vault(t, plainSecret)
	if in.secret(id) != plainSecret {
		t.Fatalf("the secret is %q", in.secret(id))
	}
	for _, get := range []string{url, "/system/setting?group_id=7", "/system/setting-value"} {
		a := in.ok("GET", get, "", "owner")
		a.brief(200, `"******"`)
	}
	bodies := []string{
		in.ok("PUT", url, `{"values":"`+plainSecret+`2"}`, "owner").Body,
		in.ok("PUT", "/system/setting", `{"values":{"g.key":"`+plainSecret+`3"}}`, "owner").Body,
		in.call("PUT", url, `{"values":"`+plainSecret+`4","type":"number"}`, "owner").Body,
		in.call("PUT", "/system/setting", `{"values":{"g.key":"`+plainSecret+`5","g.none":1}}`, "owner").Body,
		in.call("PUT", url, `{"values":"`+plainSecret+`6","key":"KEY"}`, "owner").Body,
		in.ok("POST", "/system/setting/refresh", "", "owner").Body,
		in.ok("GET", "/system/setting", "", "owner").Body, in.ok("GET", "/system/setting-value", "", "owner").Body,
	}
	for _, body := range bodies {
		if strings.Contains(body, plainSecret) {
			t.Errorf("a secret is answered: %s", body)
		}
	}
	if in.secret(id) != plainSecret+"3" {
		t.Errorf("the secret is %q", in.secret(id))
	}
	for key, record := range in.dump() {
		if strings.Contains(record, plainSecret) {
			t.Errorf("%s holds the secret in the clear: %s", key, record)
		}
	}
}

func TestSettingSecret_MaskMeansUnchanged(t *testing.T) {
	t.Parallel()
	in, url, id := vault(t, plainSecret)
	before := in.dump()
	in.ok("PUT", url, `{"values":"******"}`, "owner").brief(200, `"values":"******"`)
	in.ok("PUT", "/system/setting", `{"values":{"g.key":"******"}}`, "owner")
	in.ok("PUT", url, string(record(in.ok("GET", url, "", "owner"))), "owner")
	in.unchanged(before)
	in.ok("PUT", url, `{"values":"******","title":"Other"}`, "owner").brief(200, `"title":"Other"`)
	if in.secret(id) != plainSecret {
		t.Errorf("the secret is %q", in.secret(id))
	}
}

// record returns the data of a response.
func record(a *reply) []byte { return a.envelope().Data }

func TestSettingSecret_CanBeEmptied(t *testing.T) {
	t.Parallel()
	in, url, id := vault(t, plainSecret)
	in.ok("PUT", url, `{"values":""}`, "owner").brief(200, `"values":""`)
	if in.secret(id) != "" {
		t.Errorf("the secret is %q", in.secret(id))
	}
	in.call("PUT", url, `{"values":"******"}`, "owner").names(422, "values")
	in.call("PUT", "/system/setting", `{"values":{"g.key":"******"}}`, "owner").names(422, "values.g.key")
	in.ok("PUT", url, `{"values":"new"}`, "owner")
	if in.secret(id) != "new" {
		t.Errorf("the secret is %q", in.secret(id))
	}
}

func TestSettingSecret_NotShownByTypeChange(t *testing.T) {
	t.Parallel()
	in, url, id := vault(t, plainSecret)
	before := in.dump()
	in.call("PUT", url, `{"type":"input"}`, "owner").names(422, "values")
	in.call("PUT", url, `{"type":"input","values":"******"}`, "owner").names(422, "values")
	in.call("PUT", url, `{"type":"textarea","key":"other","sort":3}`, "owner").names(422, "values")
	in.unchanged(before)
	in.ok("PUT", url, `{"type":"input","values":"seen"}`, "owner").brief(200, `"values":"seen"`)
	if in.secret(id) != "" {
		t.Errorf("the secret is kept: %q", in.secret(id))
	}
}

func TestSettingSecret_FromPlainValue(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.create("/system/setting-group", `{"key":"g","title":"G"}`)
	id := in.create("/system/setting", `{"key":"k","title":"T","type":"input","values":"`+plainSecret+`","group_id":7}`)
	url := fmt.Sprintf("/system/setting/%d", id)
	in.ok("PUT", url, `{"type":"secret"}`, "owner").brief(200, `"values":"******"`)
	if got := in.secret(store.ID(id)); got != plainSecret {
		t.Errorf("the secret is %q", got)
	}
}

// A value that equals the mask is not a secret yet.
func TestSettingSecret_MaskIsNoValue(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.create("/system/setting-group", `{"key":"g","title":"G"}`)
	id := in.create("/system/setting", `{"key":"k","title":"T","type":"input","values":"******","group_id":7}`)
	in.call("PUT", fmt.Sprintf("/system/setting/%d", id), `{"type":"secret"}`, "owner").names(422, "values")
}

func TestSettingSecret_NotInPublicGroup(t *testing.T) {
	t.Parallel()
	in, url, _ := vault(t, plainSecret)
	in.create("/system/setting-group", `{"key":"open","title":"Open","public":1}`)
	plain := in.create("/system/setting", `{"key":"k","title":"T","type":"input","values":"x","group_id":8}`)
	runCases(t, in, []apiCase{
		{"a new secret in it", "POST", "/system/setting", `{"key":"s","title":"T","type":"secret","values":"x","group_id":8}`, "owner", 422, []string{`"type":`, "public"}, nil},
		{"a new secret without a value", "POST", "/system/setting", `{"key":"s","title":"T","type":"secret","group_id":8}`, "owner", 422, []string{"public"}, nil},
		{"a secret moved into it", "PUT", url, `{"group_id":8}`, "owner", 422, []string{"public"}, nil},
		{"a setting in it made a secret", "PUT", fmt.Sprintf("/system/setting/%d", plain), `{"type":"secret"}`, "owner", 422, []string{"public"}, nil},
		{"a group with one made public", "PUT", "/system/setting-group/7", `{"public":1}`, "owner", 422, []string{`"errors":{"public":`}, nil},
		{"the same with true", "PUT", "/system/setting-group/7", `{"public":true}`, "owner", 422, []string{`"errors":{"public":`}, nil},
		{"the public group made private", "PUT", "/system/setting-group/8", `{"public":0}`, "owner", 200, []string{`"public":0`}, nil},
	})
	in.ok("PUT", url, `{"group_id":8}`, "owner")
	in.call("PUT", "/system/setting-group/8", `{"public":1}`, "owner").names(422, "public")
	in.ok("PUT", "/system/setting-group/7", `{"public":1}`, "owner")
}

func TestSettingSecret_DeletedWithSetting(t *testing.T) {
	t.Parallel()
	in, url, _ := vault(t, plainSecret)
	in.ok("DELETE", url, "", "owner")
	for key := range in.dump() {
		if strings.HasPrefix(key, "setting_secret ") {
			t.Errorf("%s is left", key)
		}
	}
}

func TestSettingSecret_NeverSearched(t *testing.T) {
	t.Parallel()
	in, _, _ := vault(t, plainSecret)
	for _, keyword := range []string{plainSecret, "hunter2", "******"} {
		in.ok("GET", "/system/setting?keywordSearch="+keyword, "", "owner").brief(200, `"data":[],"total":0`)
	}
}

func TestSettingSecret_ChangeMakesRecordStale(t *testing.T) {
	t.Parallel()
	in, url, _ := vault(t, plainSecret)
	var read struct {
		UpdatedAt string `json:"updated_at"`
	}
	must(t, json.Unmarshal(record(in.ok("GET", url, "", "owner")), &read))
	in.ok("PUT", url, `{"values":"other"}`, "owner")
	in.call("PUT", url, `{"values":"third","updated_at":"`+read.UpdatedAt+`"}`, "owner").brief(409, `"errorCode":"stale"`)
	in.ok("PUT", "/system/setting", `{"values":{"g.key":"fourth"}}`, "owner")
}
