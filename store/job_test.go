package store

import (
	"encoding/json"
	"testing"

	"reeve/store/disk/disktest"
	"reeve/store/errs"
)

// The texts of a failed job are in the language of the request; one that was stored without codes,
// or with those of another version, as it was stored.
func TestJob_TextsInRequestLanguage(t *testing.T) {
	failed := errs.Field(errs.Conflict, "line 2 email", "is already used by another %s",
		errs.Noun("user"))
	job := Job{Msg: failed.Msg.String(), Errors: failed.Fields.In(errs.English)}
	for name, test := range map[string]struct{ reason, details, msg, fault string }{
		"with codes": {encoded(t, failed.Msg), encoded(t, failed.Fields),
			"line 2 email：已被其他用户使用", "已被其他用户使用"},
		"of an older version": {"", "", job.Msg, job.Errors["line 2 email"]},
		"with a reason alone": {encoded(t, errs.Say("is required")), "", "为必填项", ""},
		"with a foreign reason": {`{"code":"of_tomorrow"}`, encoded(t, failed.Fields), job.Msg,
			job.Errors["line 2 email"]},
		"with foreign details": {encoded(t, failed.Msg),
			`{"line 2 email":{"code":"of_tomorrow"}}`, job.Msg, job.Errors["line 2 email"]},
		"with a damaged reason": {`{"code":`, "", job.Msg, job.Errors["line 2 email"]},
	} {
		j := job
		j.Reason, j.Details = []byte(test.reason), nil
		if test.details != "" {
			j.Details = []byte(test.details)
		}
		got := j.In(errs.Chinese)
		disktest.Equal(t, name+": msg", got.Msg, test.msg)
		disktest.Equal(t, name+": fault", got.Errors["line 2 email"], test.fault)
	}

	if (&Job{}).In(errs.Chinese).Msg != "" {
		t.Error("a job that has not failed has a reason")
	}
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	noErr(t, err)
	return string(b)
}
