package server

import (
	"maps"
	"slices"
	"strconv"

	"reeve/auth"
	"reeve/store"
)

// enums maps names to the values of fields with few possible values. An input refers to
// a name in its check tag (enum=sex) and an output in a tag of its own (enum:"sex"), so
// that both have the same values. Values of a number are consecutive and in order.
var enums = map[string][]string{
	"sex":              {"0", "1", "2"},
	"proof_method":     {auth.ByPassword, auth.ByCode, auth.ByPasskey},
	"permission_type":  {"0", "1", "2"},
	"page_open":        {"", store.OpenLink, store.OpenTab},
	"data_scope":       {store.ScopeAll, store.ScopeTree, store.ScopeDept, store.ScopeSelf, store.ScopeCustom},
	"key_scope":        {"", store.ScopeAll, store.ScopeTree, store.ScopeDept, store.ScopeSelf, store.ScopeCustom},
	"key_state":        {keyActive, keyUnused, keyDisabled, keyExpired, keyPaused, keyNoOwner},
	"picker":           pickerNames(),
	"forward_redirect": {"", "302", "401"},
	"dict_type":        {"default", "badge", "tag"},
	"item_status":      {"default", "success", "error", "processing", "warning"},
	"setting_type":     {"checkbox", "color", "date", "flag", "image", "input", "json", "number", "radio", "secret", "select", "switch", "textarea", "time"},
	"field_type":       store.CustomFieldTypes(),
	"field_access":     store.FieldAccesses,
	"field_realm":      {store.AdminRealm, store.AppRealm},
	"thumb":            {"64x64", "200x200", "400x400", "800x800"},
	"file_kind":        {store.ImageFile, store.AudioFile, store.VideoFile, store.ArchiveFile, store.DocumentFile, store.OtherFile},
	"job_state":        {store.JobPreparing, store.JobRunning, store.JobUndoing, store.JobDone, store.JobFailed},
	"actor_kind":       {"user", "app_user", "key", "system", "cli", "anonymous", "unknown"},
	"collection":       slices.Sorted(maps.Keys(logSubjects)),
	"change_kind":      {"create", "update", "delete"},
	"webhook_state":    {webhookActive, webhookRetrying, webhookPaused, webhookDisabled, webhookNoOwner, webhookNoSecret},
	"webhook_paused":   {"", store.WebhookFailing, store.WebhookGone, store.WebhookRestored},
	"invite_by":        {"", inviteByMail, inviteByLink},
	"mail_state":       {"", store.MailQueued, store.MailSent, store.MailFailed, store.MailCancelled},
	"mail_purpose":     {store.Invitation, store.PasswordReset, store.EmailVerification, store.EmailChange, store.EmailChanged, store.FactorRemoved, store.SignInUnknown, store.Registration},
	"notice_kind":      {store.ActedAs, store.FactorRemoved, store.NewDevice, store.NewNetwork},
	"mail_stage":       {"", "settings", "connect", "tls", "auth", "sender", "recipient", "data", "restored"},
	"delivery_kind":    {eventDelivery, replayDelivery, testDelivery},
	"undo_lost":        {store.LostPassword, store.LostSession, store.LostFactor, store.LostAvatar, store.LostSecret, store.LostURL, store.LostContent, store.LostErased},
}

// enumOf returns the values of an enum. It panics if the name is unknown.
func enumOf(name string) []string {
	values, ok := enums[name]
	if !ok {
		panic("server: there is no enum " + name)
	}
	return values
}

// enumSchema returns the values of an enum for JSON Schema.
func enumSchema(values []string, number bool) []any {
	all := make([]any, len(values))
	for i, value := range values {
		all[i] = value
		if number {
			n, err := strconv.Atoi(value)
			if err != nil {
				panic("server: the enum of a number has " + value)
			}
			all[i] = n
		}
	}
	return all
}
