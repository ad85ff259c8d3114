// Package store is the domain of Reeve: users and app users, roles, permissions, departments,
// sessions, settings, dictionaries, files and jobs, and the rules that must hold for them.
// Rules are enforced here for every caller, so that a handler cannot forget one.
//
// Start with schema.go, which lists every collection and cache. Then read a resource, for example
// dept.go: a struct, its Collection with indexes, its authorization check and its constraint. Then
// read actor.go (on whose behalf a transaction runs), policy.go (roles, permissions and departments
// in memory, from which an actor's permissions are computed), role_grant.go and user_grant.go (what
// an actor may grant to others). Package kv stores the records: its collections, queries and
// conditions are used by their own names, and engine.go has the few that nearly every caller needs.
//
// The files by chapter:
//   - Identity: account*, user*, app_sign_in, address, avatar, session, device, factor_* (second
//     factors and proofs), link*, provider, identity (sign-in providers), act_as,
//     used_value, unlock, login_log.
//   - Rights: actor, policy, permission*, role*, app_role, scope, dept*, key*, access, choice.
//   - Settings: setting*, dict*, custom_* (custom fields).
//   - Content and work: file, job, mail, webhook, completed_request.
//   - The change log: change_log* (entries, past states, undo), person_* (erasure).
//   - The engine's side: engine, schema, repair, exposed, text_* (forms of texts), tree_upwards.
//
// Invariants of every write, which tests check with random operations:
//   - No one grants what they do not hold: the permissions and the data scope of a user or role
//     that an actor changes are within the actor's own, before and after the change.
//   - No one reads or changes a record outside their data scope; such a record is "not found".
//   - At least one enabled user with the owner role remains.
//
// A read and a write:
//
//	err := db.View(actor, func(tx *store.Tx) error {
//		page, total, err = store.Users.Find(tx, kv.Query[store.User]{
//			Where: []kv.Condition{store.UserByStatus.AnyOf("1")},
//			Order: store.UserByName.Order(), Limit: 20,
//		})
//		return err
//	})
//	err = db.Update(actor, func(tx *store.Tx) error {
//		_, err := store.Depts.Update(tx, id, func(d *store.Dept) error { d.Name = name; return nil })
//		return err
//	})
package store

import (
	"errors"

	"reeve/store/kv"
)

// reeve is the schema. It lists every collection and cache; a declaration that is missing here
// has no effect.
var reeve = kv.Schema{
	Tables: []kv.Table{
		Installs, Permissions, Roles, Depts, Users, AppPermissions, AppRoles, AppUsers,
		PasswordHashes, Sessions, SessionTokens, Devices, LoginLogs,
		SettingGroups, Settings, SettingSecrets,
		Dicts, DictItems,
		FileGroups, Files, FileVersions, Avatars,
		Jobs, JobSteps,
		PersonKeys, Erasures,
		Webhooks, WebhookSecrets, WebhookStates,
		APIKeys, KeySecrets, CompletedRequests, UsedValues, Unlocks,
		Links, Mails,
		TOTPs, RecoverySets, Passkeys,
		CustomFields, SetupMarks,
		Providers, ProviderSecrets, Identities, ProviderSessions,
		Views, ViewDefaults,
		kv.Objects, kv.ContentKeys,
	},
	Caches: []kv.AnyCache{PolicyCache, AppPolicyCache, PermissionTree, SettingCache, DictCache,
		CustomFieldCache},
	Current: currentActor,
	FileLimits: func(tx *Tx) (quota, floor int64) {
		return int64(FileQuota.Get(tx)) << 20, int64(FileFloor.Get(tx)) << 20
	},
	LogEntry: logEntry,

	LogCheckpoint: logCheckpoint,
	Restored: func(tx *Tx) error {
		return errors.Join(endAllSessions(tx), pauseKeys(tx), endAllLinks(tx), holdMails(tx),
			spendCodes(tx))
	},
	Withdrawn:  withdrawnSince,
	Withdraw:   withdraw,
	Repair:     repairAccounts,
	RepairLast: repairOwner,
	Migrations: []kv.Migration{ // the first one migrates from version 1 to 2
		{Title: "users, roles and departments are searched, filtered and sorted",
			Run: func(tx *Tx) error {
				return errors.Join(Users.Reindex(tx), AppUsers.Reindex(tx),
					PasswordHashes.Reindex(tx),
					Roles.Reindex(tx), Sessions.Reindex(tx))
			}},
		{Title: "dictionaries", Run: func(*Tx) error { return nil }},
		{Title: "files and avatars", Run: func(*Tx) error { return nil }}, // new collections only need their buckets
		{Title: "files in no group are found", Run: Files.Reindex},
		{Title: "jobs", Run: func(*Tx) error { return nil }},
		{Title: "sealed values name their key", Run: func(*Tx) error { return nil }}, // done when the database is opened, because that needs the key
		{Title: "devices from which users have signed in", Run: func(*Tx) error { return nil }},
		{Title: "rows of the login log have a fingerprint and a time of the attempt",
			Run: func(*Tx) error {
				return nil
			}},
		{Title: "records have versions", Run: func(*Tx) error { return nil }}, // 0 until a record is changed
		{Title: "texts have an index", Run: func(*Tx) error { return nil }},   // built while the database is in use
		{Title: "failed jobs have message codes", Run: func(*Tx) error { return nil }},
		{Title: "change log and erasure", Run: LoginLogs.Reindex}, // sign-ins of app users are found by user
		{Title: "webhooks", Run: func(*Tx) error { return nil }},
		{Title: "API keys, pages with a URL", Run: func(*Tx) error { return nil }},
		{Title: "completed requests, public dictionaries", Run: func(*Tx) error { return nil }},
		{Title: "one-time links, mail", Run: func(*Tx) error { return nil }},
		{Title: "app users have roles and sign in by mobile; registrations; custom fields",
			Run: func(tx *Tx) error {
				return errors.Join(AppUsers.Reindex(tx), Links.Reindex(tx))
			}},
		{Title: "second factors; devices have a place and sessions a device", Run: func(*Tx) error {
			return nil
		}},
		{Title: "texts are compared as people read them; users have the API key that created them", Run: compareTexts},
		{Title: "departments have a code; marks of setup files", Run: func(*Tx) error { return nil }},
		{Title: "contents of files can be in a bucket; totals of local rows are kept apart", Run: kv.SplitTotals},
		{Title: "sign-in providers", Run: func(*Tx) error { return nil }},
		{Title: "passwords can be turned off", Run: func(*Tx) error { return nil }},
		{Title: "directories", Run: func(*Tx) error { return nil }},
		{Title: "app users have passkeys", Run: Passkeys.Reindex},
		{Title: "used values and unlocked accounts are rows", Run: func(*Tx) error { return nil }},
		{Title: "saved views of lists", Run: func(*Tx) error { return nil }},
		{Title: "versions of files", Run: func(*Tx) error { return nil }},
	},
}
