package server

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"reeve/store"
)

// dumped has the records of each collection as JSON, by ID.
var dumped = map[string]func(t testing.TB, tx *store.Tx) map[store.ID]string{
	"permission": recordsOf(store.Permissions), "role": recordsOf(store.Roles), "app_permission": recordsOf(store.AppPermissions), "app_role": recordsOf(store.AppRoles), "dept": recordsOf(store.Depts),
	"user": recordsOf(store.Users), "app_user": recordsOf(store.AppUsers), "password_hash": recordsOf(store.PasswordHashes),
	"authenticator": recordsOf(store.TOTPs), "recovery_code": recordsOf(store.RecoverySets), "passkey": recordsOf(store.Passkeys),
	"session": recordsOf(store.Sessions), "session_token": recordsOf(store.SessionTokens), "device": recordsOf(store.Devices), "login_log": recordsOf(store.LoginLogs),
	"setting_group": recordsOf(store.SettingGroups), "setting": recordsOf(store.Settings), "setting_secret": recordsOf(store.SettingSecrets),
	"custom_field": recordsOf(store.CustomFields), "dict": recordsOf(store.Dicts), "dict_item": recordsOf(store.DictItems), "install": recordsOf(store.Installs),
	"file": recordsOf(store.Files), "file_group": recordsOf(store.FileGroups), "avatar": recordsOf(store.Avatars),
	"job": recordsOf(store.Jobs), "job_step": recordsOf(store.JobSteps),
	"webhook": recordsOf(store.Webhooks), "webhook_secret": secretOwners, "webhook_state": webhookPositions,
	"key": recordsOf(store.APIKeys), "key_secret": keysOfSecrets, "completed_request": callersOfCompleted,
	"link": linksWithoutTokens, "mail": recordsOf(store.Mails),
	"person_key": keyOwners, "erasure": recordsOf(store.Erasures),
}

// linksWithoutTokens returns the links without their tokens, which are random.
func linksWithoutTokens(t testing.TB, tx *store.Tx) map[store.ID]string {
	all := map[store.ID]string{}
	for l, err := range store.Links.All(tx) {
		must(t, err)
		l.Tokens = nil
		all[l.ID] = string(encodeJSON(t, l))
	}
	return all
}

// keyOwners returns whose each person key is. The keys are random.
func keyOwners(_ testing.TB, tx *store.Tx) map[store.ID]string {
	owners := map[store.ID]string{}
	for k, err := range store.PersonKeys.All(tx) {
		if err == nil {
			owners[k.ID] = fmt.Sprint(k.UserID, k.AppUserID)
		}
	}
	return owners
}

// secretOwners returns whose each webhook secret is, and whether there is a previous one. The secrets are
// random.
func secretOwners(_ testing.TB, tx *store.Tx) map[store.ID]string {
	owners := map[store.ID]string{}
	for s, err := range store.WebhookSecrets.All(tx) {
		if err == nil {
			owners[s.ID] = fmt.Sprint(s.WebhookID, s.PreviousUntil != 0)
		}
	}
	return owners
}

// keysOfSecrets returns which API key each secret belongs to, and whether it is the previous one. The
// secrets are random.
func keysOfSecrets(t testing.TB, tx *store.Tx) map[store.ID]string {
	owners := map[store.ID]string{}
	for s, err := range store.KeySecrets.All(tx) {
		must(t, err)
		owners[s.ID] = fmt.Sprint(s.KeyID, s.ExpiresAt != 0)
	}
	return owners
}

// callersOfCompleted returns who has sent each completed request. The rest is random.
func callersOfCompleted(t testing.TB, tx *store.Tx) map[store.ID]string {
	callers := map[store.ID]string{}
	for r, err := range store.CompletedRequests.All(tx) {
		must(t, err)
		callers[r.ID] = r.Caller
	}
	return callers
}

// webhookPositions returns the states of webhooks without the generation, which is random.
func webhookPositions(t testing.TB, tx *store.Tx) map[store.ID]string {
	all := map[store.ID]string{}
	for s, err := range store.WebhookStates.All(tx) {
		must(t, err)
		s.Generation = ""
		all[s.ID] = string(encodeJSON(t, s))
	}
	return all
}

func recordsOf[T any](c *store.Collection[T]) func(testing.TB, *store.Tx) map[store.ID]string {
	return func(t testing.TB, tx *store.Tx) map[store.ID]string {
		all := map[store.ID]string{}
		for v, err := range c.All(tx) {
			must(t, err)
			all[recordID(v)] = string(encodeJSON(t, v))
		}
		return all
	}
}

func TestTheDumpHasEveryCollection(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.view(func(tx *store.Tx) error {
		for _, c := range collectionStats(t, tx) {
			if dumped[c.Name] == nil {
				t.Errorf("add the collection %s to dumped: the tests that compare dumps leave it out", c.Name)
			}
		}
		return nil
	})
}

// dumpState is a dump with the totals of all collections at that time.
type dumpState struct {
	totals []store.CollectionStats
	all    map[string]string
}

// dump returns every record of the database as JSON, by "collection id". It decodes the records of
// a collection only if the checksums of the collection differ from those of the last dump.
func (in *instance) dump() map[string]string {
	in.t.Helper()
	in.view(func(tx *store.Tx) error {
		totals := collectionStats(in.t, tx)
		if in.lastDump != nil && slices.Equal(in.lastDump.totals, totals) {
			return nil
		}
		all := map[string]string{}
		for name, records := range dumped {
			for id, text := range records(in.t, tx) {
				all[fmt.Sprintf("%s %d", name, id)] = text
			}
		}
		in.lastDump = &dumpState{totals, all}
		return nil
	})
	return maps.Clone(in.lastDump.all)
}

// collectionStats returns the totals of all collections.
func collectionStats(t testing.TB, tx *store.Tx) []store.CollectionStats {
	all, err := store.Collections(tx)
	must(t, err)
	return all
}

// recordID returns the ID of a record.
func recordID[T any](v *T) store.ID {
	return reflect.ValueOf(v).Elem().FieldByName("ID").Interface().(store.ID)
}
