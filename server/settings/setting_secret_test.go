package settings_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"reeve/server/servertest"
	"reeve/store"
)

const plainSecret = "hunter2-plain-secret"

// vault returns an instance with the secret setting g.key, and the URL and ID of
// the setting.
func vault(t *testing.T, plain string) (*servertest.Instance, string, store.ID) {
	t.Helper()
	in := servertest.Start(t)
	in.Create("/system/setting-group", `{"key":"g","title":"G"}`)
	id := in.Create("/system/setting",
		fmt.Sprintf(`{"key":"key","title":"Key","type":"secret","values":%q,"group_id":8}`, plain))
	return in, fmt.Sprintf("/system/setting/%d", id), store.ID(id)
}

// secret returns the decrypted value.
func secret(in *servertest.Instance, id store.ID) (plain string) {
	in.T.Helper()
	in.View(func(tx *store.Tx) (err error) {
		plain, err = store.SettingSecretText(tx, id)
		return err
	})
	return plain
}

func TestSettingSecret_NeverReturned(t *testing.T) {
	t.Parallel()
	in, url, id := vault(t, plainSecret)
	if secret(in, id) != plainSecret {
		t.Fatalf("the secret is %q", secret(in, id))
	}

	for _, get := range []string{url, "/system/setting?group_id=8", "/system/setting-value"} {
		a := in.OK("GET", get, "", "owner")
		a.Brief(200, `"******"`)
	}

	bodies := []string{
		in.OK("PUT", url, `{"values":"`+plainSecret+`2"}`, "owner").Body,
		in.OK("PUT", "/system/setting", `{"values":{"g.key":"`+plainSecret+`3"}}`, "owner").Body,
		in.Call("PUT", url, `{"values":"`+plainSecret+`4","type":"number"}`, "owner").Body,
		in.Call("PUT", "/system/setting", `{"values":{"g.key":"`+plainSecret+`5","g.none":1}}`,
			"owner").Body,
		in.Call("PUT", url, `{"values":"`+plainSecret+`6","key":"KEY"}`, "owner").Body,
		in.OK("POST", "/system/setting/refresh", "", "owner").Body,
		in.OK("GET", "/system/setting", "", "owner").Body,
		in.OK("GET", "/system/setting-value", "", "owner").Body,
	}
	for _, body := range bodies {
		if strings.Contains(body, plainSecret) {
			t.Errorf("a secret is answered: %s", body)
		}
	}

	if secret(in, id) != plainSecret+"3" {
		t.Errorf("the secret is %q", secret(in, id))
	}

	for key, record := range in.Dump() {
		if strings.Contains(record, plainSecret) {
			t.Errorf("%s holds the secret in the clear: %s", key, record)
		}
	}
}

func TestSettingSecret_MaskMeansUnchanged(t *testing.T) {
	t.Parallel()
	in, url, id := vault(t, plainSecret)
	before := in.Dump()
	in.OK("PUT", url, `{"values":"******"}`, "owner").Brief(200, `"values":"******"`)
	in.OK("PUT", "/system/setting", `{"values":{"g.key":"******"}}`, "owner")
	in.OK("PUT", url, string(servertest.Record(in.OK("GET", url, "", "owner"))), "owner")
	in.Unchanged(before)
	in.OK("PUT", url, `{"values":"******","title":"Other"}`, "owner").Brief(200, `"title":"Other"`)
	if secret(in, id) != plainSecret {
		t.Errorf("the secret is %q", secret(in, id))
	}
}

func TestSettingSecret_CanBeEmptied(t *testing.T) {
	t.Parallel()
	in, url, id := vault(t, plainSecret)
	in.OK("PUT", url, `{"values":""}`, "owner").Brief(200, `"values":""`)
	if secret(in, id) != "" {
		t.Errorf("the secret is %q", secret(in, id))
	}
	in.Call("PUT", url, `{"values":"******"}`, "owner").Names(422, "values")
	in.Call("PUT", "/system/setting", `{"values":{"g.key":"******"}}`, "owner").Names(422,
		"values.g.key")
	in.OK("PUT", url, `{"values":"new"}`, "owner")
	if secret(in, id) != "new" {
		t.Errorf("the secret is %q", secret(in, id))
	}
}

func TestSettingSecret_NotShownByTypeChange(t *testing.T) {
	t.Parallel()
	in, url, id := vault(t, plainSecret)
	before := in.Dump()
	in.Call("PUT", url, `{"type":"input"}`, "owner").Names(422, "values")
	in.Call("PUT", url, `{"type":"input","values":"******"}`, "owner").Names(422, "values")
	in.Call("PUT", url, `{"type":"textarea","key":"other","sort":3}`, "owner").Names(422, "values")
	in.Unchanged(before)
	in.OK("PUT", url, `{"type":"input","values":"seen"}`, "owner").Brief(200, `"values":"seen"`)
	if secret(in, id) != "" {
		t.Errorf("the secret is kept: %q", secret(in, id))
	}
}

func TestSettingSecret_FromPlainValue(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Create("/system/setting-group", `{"key":"g","title":"G"}`)
	id := in.Create("/system/setting",
		`{"key":"k","title":"T","type":"input","values":"`+plainSecret+`","group_id":8}`)
	url := fmt.Sprintf("/system/setting/%d", id)
	in.OK("PUT", url, `{"type":"secret"}`, "owner").Brief(200, `"values":"******"`)
	if got := secret(in, store.ID(id)); got != plainSecret {
		t.Errorf("the secret is %q", got)
	}
}

// A value that equals the mask is not a secret yet.
func TestSettingSecret_MaskIsNoValue(t *testing.T) {
	t.Parallel()
	in := servertest.Start(t)
	in.Create("/system/setting-group", `{"key":"g","title":"G"}`)
	id := in.Create("/system/setting",
		`{"key":"k","title":"T","type":"input","values":"******","group_id":8}`)
	in.Call("PUT", fmt.Sprintf("/system/setting/%d", id), `{"type":"secret"}`, "owner").Names(422,
		"values")
}

func TestSettingSecret_NotInPublicGroup(t *testing.T) {
	t.Parallel()
	in, url, _ := vault(t, plainSecret)
	in.Create("/system/setting-group", `{"key":"open","title":"Open","public":1}`)
	plain := in.Create("/system/setting",
		`{"key":"k","title":"T","type":"input","values":"x","group_id":9}`)
	servertest.RunCases(t, in, []servertest.Case{
		{"a new secret in it", "POST", "/system/setting",
			`{"key":"s","title":"T","type":"secret","values":"x","group_id":9}`, "owner", 422,
			[]string{`"type":`, "public"}, nil},
		{"a new secret without a value", "POST", "/system/setting",
			`{"key":"s","title":"T","type":"secret","group_id":9}`, "owner", 422,
			[]string{"public"}, nil},
		{"a secret moved into it", "PUT", url, `{"group_id":9}`, "owner", 422, []string{"public"},
			nil},
		{"a setting in it made a secret", "PUT", fmt.Sprintf("/system/setting/%d", plain),
			`{"type":"secret"}`, "owner", 422, []string{"public"}, nil},
		{"a group with one made public", "PUT", "/system/setting-group/8", `{"public":1}`, "owner",
			422, []string{`"errors":{"public":`}, nil},
		{"the same with true", "PUT", "/system/setting-group/8", `{"public":true}`, "owner", 422,
			[]string{`"errors":{"public":`}, nil},
		{"the public group made private", "PUT", "/system/setting-group/9", `{"public":0}`,
			"owner", 200, []string{`"public":0`}, nil},
	})
	in.OK("PUT", url, `{"group_id":9}`, "owner")
	in.Call("PUT", "/system/setting-group/9", `{"public":1}`, "owner").Names(422, "public")
	in.OK("PUT", "/system/setting-group/8", `{"public":1}`, "owner")
}

func TestSettingSecret_DeletedWithSetting(t *testing.T) {
	t.Parallel()
	in, url, _ := vault(t, plainSecret)
	in.OK("DELETE", url, "", "owner")
	for key := range in.Dump() {
		if strings.HasPrefix(key, "setting_secret ") {
			t.Errorf("%s is left", key)
		}
	}
}

func TestSettingSecret_NeverSearched(t *testing.T) {
	t.Parallel()
	in, _, _ := vault(t, plainSecret)
	for _, keyword := range []string{plainSecret, "hunter2", "******"} {
		in.OK("GET", "/system/setting?keywordSearch="+keyword, "", "owner").Brief(200,
			`"data":[],"total":0`)
	}
}

func TestSettingSecret_ChangeMakesRecordStale(t *testing.T) {
	t.Parallel()
	in, url, _ := vault(t, plainSecret)
	var read struct {
		UpdatedAt string `json:"updated_at"`
	}
	servertest.Must(t, json.Unmarshal(servertest.Record(in.OK("GET", url, "", "owner")), &read))
	in.OK("PUT", url, `{"values":"other"}`, "owner")
	in.Call("PUT", url, `{"values":"third","updated_at":"`+read.UpdatedAt+`"}`, "owner").Brief(409,
		`"errorCode":"stale"`)
	in.OK("PUT", "/system/setting", `{"values":{"g.key":"fourth"}}`, "owner")
}
