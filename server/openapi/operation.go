package openapi

import (
	"slices"
	"strings"

	"reeve/server/web"
)

// Notes describe particulars of operations, by operation ID.
var Notes = map[string]string{
	"acknowledgeLostCommits":           "Ends the warning that commits were lost, and returns the state of each part.",
	"listChoices":                      "The records that a form offers for a field with the ID of another record, with their names only: roles and permissions that you can grant (`flag_role`: all roles), and departments in your data scope. Requires a permission for an operation that has such a field, or to read the records themselves.",
	"inviteUsers":                      "Invites users who have not set a password yet, at most 10,000; those who have are skipped, and so are those without an address if the invitations are mailed. It can be repeated: an invitation that exists is renewed.",
	"inviteAppUsers":                   "Invites app users who have not set a password yet, at most 10,000; those who have are skipped, and so are those without an address if the invitations are mailed. It can be repeated: an invitation that exists is renewed.",
	"inviteUser":                       "Invites a user who has not set a password yet, by mail or with a link for you to pass on. Of an invitation, the three newest links are valid, each for 7 days and until one of them is used. A link that was passed on ends if you lose the right to change the user.",
	"inviteAppUser":                    "Invites an app user who has not set a password yet, by mail or with a link for you to pass on. Of an invitation, the three newest links are valid, each for 7 days and until one of them is used.",
	"createPasswordResetLink":          "The user sets a new password with the link, within an hour. Until then, the present password and the sessions remain.",
	"createAppUserResetLink":           "The app user sets a new password with the link, within an hour. Until then, the present password and the sessions remain.",
	"revokeInvitation":                 "Its links stop working at once. The user remains, without a password.",
	"revokeInvitations":                "Their links stop working at once. The users remain, without passwords.",
	"revokeAppUserInvitation":          "Its links stop working at once. The app user remains, without a password.",
	"revokeAppUserInvitations":         "Their links stop working at once. The app users remain, without passwords.",
	"listMails":                        "Mails of the last 30 days, with what the mail server has said. They have no text: each attempt makes a new link.",
	"sendMailAgain":                    "Queues a mail at once that was sent, has failed, or waits for its next attempt, with a new link.",
	"deleteMail":                       "It is not sent any more. A link that was sent with it remains valid.",
	"deleteMails":                      "They are not sent any more. Links that were sent with them remain valid.",
	"sendTestMail":                     "Sends a mail at once, with the saved settings and also while mail is turned off, and returns what the mail server has said.",
	"listMailTemplates":                "Returns all templates as examples with your own name.",
	"requestPasswordReset":             "Mails a link with which the user sets a new password, valid for an hour. The response is the same, after the same time, whether or not there is such a user. At most three mails per user and hour.",
	"requestAppPasswordReset":          "Mails a link with which the app user sets a new password, valid for an hour. The response is the same, after the same time, whether or not there is such a user. At most three mails per user and hour.",
	"setPasswordWithLink":              "Accepts an invitation, or sets a forgotten password. The link works once; all sessions end. For programs that have a page of their own for it.",
	"setAppPasswordWithLink":           "Accepts an invitation, or sets a forgotten password. The link works once; all sessions end. For programs that have a page of their own for it.",
	"confirmEmailAddress":              "Confirms the address to which the link was sent. The link works once.",
	"confirmAppUserEmail":              "Confirms the address to which the link was sent. The link works once.",
	"verifyOwnEmailAddress":            "Mails a link that confirms your address, or a new one, which then replaces the present one. At most three mails an hour.",
	"verifyOwnAppEmail":                "Mails a link that confirms your address, or a new one, which then replaces the present one. At most three mails an hour.",
	"deleteOwnAppUser":                 "Deletes the account with its sessions, after its password was checked; turned off with the setting app.delete_account. It is no erasure: logs keep what happened before.",
	"endOwnAppSession":                 "The session of this request can be ended, too.",
	"registerAsAppUser":                "Creates an app user and returns a token. 403 unless the setting app.registration allows it. If the address has to be confirmed (app.registration_confirm, app.registration_domains), a link is mailed there instead of signing in, and the response is the same if somebody has the address already. An address gets at most three mails an hour.",
	"getRegistrationChallenge":         "A proof of work in the format of ALTCHA, which its widgets solve: find the number from 0 to maxnumber whose SHA-256 with the salt is the challenge. Valid for 10 minutes and one registration. 403 unless the settings app.registration and app.registration_challenge are on.",
	"openOneTimeLink":                  "The page that a link opens, in the language of the browser, without scripts. Opening it changes nothing.",
	"openAccountPage":                  "The account, with links to the pages that change it. A browser without a session is sent to the sign-in page. The pages are off unless the setting app.pages is on.",
	"openPasswordPage":                 "The only page of the account while the password must be changed; the others lead there.",
	"openRegistrationPage":             "The page with the form, if the settings allow it. It has a script only if the setting app.registration_challenge is on.",
	"registerOnPage":                   "Does what POST /api/register does, with the session in a cookie.",
	"signInOnPage":                     "Does what POST /api/login does, with the session in a cookie. A form that a page of another origin sends is rejected, here and on the other pages.",
	"requestPasswordResetOnPage":       "Does what POST /api/password/forgot does.",
	"useOneTimeLink":                   "The form of that page. It works once.",
	"checkServerHealth":                "Returns 200 while the server can serve requests; for load balancers and supervisors.",
	"verifyForwardedRequest":           "For reverse proxies: they pass a request on to a program after 204, with the headers Remote-User, Remote-Name, Remote-Email, Remote-Groups and X-Reeve-Scope. The request is described by the headers X-Forwarded-Proto, -Host, -Uri and -Method, and by the cookies of the browser.",
	"openProxiedProgram":               "For the sign-in page: the browser of a signed-in user gets a URL at the program, which finishes the sign-in there.",
	"finishProxiedSignIn":              "Proxies pass this path of a program's origin to the server. It exchanges the code for a cookie of the origin.",
	"evaluateFlag":                     "OpenFeature Remote Evaluation Protocol: returns a value, never the rules. Flags in public groups can be evaluated without a token, others need the permission system.setting.read.<group>; any other flag is FLAG_NOT_FOUND. Errors that concern the request have the status 400.",
	"evaluateFlags":                    "OpenFeature Remote Evaluation Protocol: returns the values of all flags that you may evaluate, never the rules. If-None-Match with the ETag of the last response gives 304 while nothing has changed.",
	"previewFlag":                      "Evaluates a value that need not be saved, for at most 10,000 users in your data scope as they would get it in a session. Without the permission admin.list.query, for yourself alone.",
	"introspectToken":                  "RFC 7662: tells whether the next request with a token would be accepted, and whose it is. A token that is not known or not valid any more gives active: false alone.",
	"checkPermissions":                 "Answers for a token as the next request with it would be answered, at most 100 permissions at a time. A user is named by user_id, and must be in your data scope.",
	"createAPIKey":                     "A service key has the permissions of its roles as far as you may grant them, also when your own change later. The response has the key, which no other response contains.",
	"createOwnAPIKey":                  "A personal key has your permissions, also when they change later, or those of some of your roles. The response has the key, which no other response contains.",
	"rotateAPIKey":                     "Returns a new key. The present one remains valid for overlap_hours, and one from an earlier rotation ends. A personal key can be rotated by its owner only.",
	"rotateOwnAPIKey":                  "Returns a new key. The present one remains valid for overlap_hours, and one from an earlier rotation ends.",
	"adoptAPIKey":                      "Makes you its owner, for whom it acts and whose rights limit it. Requires the owner role; a personal key cannot be adopted.",
	"resumeAPIKey":                     "After a restore, all API keys are paused, since the backup can have keys that were deleted later. Requires the owner role.",
	"exportAuditLog":                   "JSON lines: each entry exactly as it is stored, so that `reeve audit verify` can check the chain of hashes. Personal values are sealed. Requires the data scope all.",
	"completeSignInWithCode":           "The second step of a sign-in whose response has login_token: within 5 minutes, at most 5 times, from the same address and device. The response is that of a sign-in.",
	"setUpAuthenticatorApp":            "Returns the secret of an authenticator app (TOTP, RFC 6238: SHA-1, 6 digits, 30 seconds). No sign-in asks for a code before PUT on this path has confirmed one.",
	"confirmAuthenticatorApp":          "With a code that proves that the app has the secret; from then on, sign-ins ask for one. Returns ten recovery codes, once.",
	"getHowToConfirmIdentity":          "The field that POST requires, and until when nothing has to be confirmed.",
	"confirmIdentity":                  "With the strongest factor: a passkey, a code, or the password without a second factor. For the next minutes (security.reauth_minutes) the session can use sensitive operations, which answer 403 reauth_required otherwise.",
	"getOptionsToSignInWithPasskey":    "For navigator.credentials.get() of a browser, also to offer passkeys while the form of the sign-in is filled in (conditional mediation). The challenge is valid for an hour, and once.",
	"signInWithPasskey":                "With login_token, it completes a sign-in with a password. Without, it is a sign-in of its own, for which the passkey has to verify the user, with a fingerprint or the like. The response is that of a sign-in.",
	"getOptionsForNewPasskey":          "For navigator.credentials.create() of a browser, within 5 minutes.",
	"addPasskey":                       "From then on, sign-ins with the password ask for a second factor. Returns ten recovery codes with the first factor, once.",
	"dismissNotices":                   "Those up to a time, which notices of GET /admin/info have.",
	"removePasskeys":                   "The recovery codes end with the last factor.",
	"removePasskey":                    "The recovery codes end with the last factor.",
	"removeAuthenticatorApp":           "Without a passkey, the password is then enough to sign in, and the recovery codes end, too.",
	"replaceRecoveryCodes":             "Returns ten new codes, once. The former ones end.",
	"unlockUser":                       "Ends a lock-out after failed sign-ins: the user can sign in at once. The limits of client addresses remain. Without a lock-out, nothing happens.",
	"unlockAppUser":                    "Ends a lock-out after failed sign-ins: the app user can sign in at once. The limits of client addresses remain. Without a lock-out, nothing happens.",
	"removeUserSecondFactor":           "For somebody who has lost the authenticator app and the recovery codes: the password is then enough to sign in.",
	"completeSignInWithCodeAsAppUser":  "The second step of a sign-in whose response has login_token: within 5 minutes, at most 5 times, from the same address and device. The response is that of a sign-in.",
	"getOwnSecondFactorAsAppUser":      "Also whether one may be set up: the setting app.second_factor.",
	"setUpAuthenticatorAppAsAppUser":   "Requires the password, and the setting app.second_factor. Returns the secret of an authenticator app (TOTP, RFC 6238: SHA-1, 6 digits, 30 seconds). No sign-in asks for a code before PUT on this path has confirmed one.",
	"confirmAuthenticatorAppAsAppUser": "With a code that proves that the app has the secret; from then on, sign-ins ask for one. Returns ten recovery codes, once.",
	"removeAuthenticatorAppAsAppUser":  "Requires a code of the app, or a recovery code. The password is then enough to sign in, and the recovery codes end.",
	"replaceRecoveryCodesAsAppUser":    "Requires a code of the app, or a recovery code. Returns ten new recovery codes, once. The former ones end.",
	"removeAppUserSecondFactor":        "For somebody who has lost the authenticator app and the recovery codes: the password is then enough to sign in. A mail tells the app user.",
	"actAsUser":                        "For at most 30 minutes, requests of this session with the header X-Act-As and the ID of the user run with the permissions and the data scope of the user; both must be within your own, at every request. Routes about the account, sessions, factors and keys are refused, and those that require a confirmation: 403 acting. The change log, monitoring and events have both names, and the user is told. Another call replaces it.",
	"stopActingAsUser":                 "Send it without the header X-Act-As.",
	"listOwnActivity":                  "What the change log has of you, also if somebody acted as you. pageSize is at most 1000; next is the value of before for the next page.",
	"listDevices":                      "The browsers in which you have signed in, each known by a token that it keeps for 90 days, the newest first.",
	"renameDevice":                     "Only you see the name.",
	"forgetDevice":                     "Ends the sessions that were opened there. The next sign-in there is one on a new device.",
	"forgetDevices":                    "Ends the sessions that were opened there.",
	"signOutOnDevice":                  "Ends the sessions that were opened there. The device remains known.",
	"getAuditEntry":                    "With values in full, and with what undoing it would do.",
	"getRecordHistory":                 "The changes of one record, the newest first. Requires the permission to read the record, too.",
	"listAuditEntries":                 "The newest first. actor is a kind and an ID, such as user:7, or system or cli; address is an IP address or a network; operation is a method and a route, such as PUT /admin/role/:id, or a title. With a data scope other than all, it has entries of users and about records in the scope.",
	"streamEvents":                     "Server-Sent Events: each change of a record that you may read, as it is committed. The header Last-Event-ID continues after that event without gaps. A comment is sent every 15 seconds, and the stream ends when the session does. The first event is open; access.changed tells that your own permissions have changed.",
	"streamOwnEvents":                  "Server-Sent Events: changes of your own user, of your sessions, and of public settings and dictionaries. The header Last-Event-ID continues after that event without gaps.",
	"undoAuditEntry":                   "Applies the inverse of all changes of the entry through the rules of those operations, for which you need the permissions, too. All of a large operation, such as an import, is undone. 409 changed_since names the fields that have been changed since.",
	"adoptWebhook":                     "Makes you the owner, so that the webhook sends what you may read. You need the rights of the previous owner.",
	"createWebhook":                    "You become its owner: it sends what you may read, at the time of sending. Returns the signing secret, once. Sending begins with the next change.",
	"deleteWebhook":                    "What it has not sent yet is not sent, and its stored deliveries can no longer be read.",
	"deleteWebhooks":                   "What they have not sent yet is not sent, and their stored deliveries can no longer be read.",
	"getDelivery":                      "With the body that was sent and the beginning of the response.",
	"listEventTypes":                   "The types of events that streams and webhooks can ask for. A whole group is asked for with an asterisk, such as role.*.",
	"listWebhookDeliveries":            "Attempts to send, the newest first, of at most 30 days and within 64 MiB for all webhooks. Only for the owner and those who could change the owner.",
	"replayEventsToWebhook":            "Sends the events of entries of the change log again, with the same message IDs and as the owner may read them now. They are sent before the events that wait.",
	"resumeWebhook":                    "Ends a pause, or makes the next attempt now. latest=1 skips everything that waits.",
	"rotateWebhookSecret":              "Returns the new signing secret, once. Messages are signed with the previous one, too, for 24 hours.",
	"sendTestEventToWebhook":           "Sends an event of the type webhook.test once, whatever the state of the webhook, and returns the result.",
	"skipWebhookBlockingEvent":         "Continues behind a message that the receiver does not accept. It can be replayed later.",
	"updateWebhook":                    "Another URL gets a new signing secret, which is returned once.",
	"createFileLink":                   "Returns a URL that downloads the file without a token, until it expires or the session ends.",
	"createUser":                       "Without a password one is generated and returned once; the user must change it.",
	"createAppUser":                    "Without a password one is generated and returned once; the user must change it.",
	"deleteAppPermission":              "409 while it has children. Roles lose the permission.",
	"deleteAppRole":                    "409 while app users have it.",
	"deleteAppUser":                    "The user's sessions end.",
	"deleteDept":                       "409 while it has sub-departments or users.",
	"deleteDict":                       "409 while it has items.",
	"deleteDictItem":                   "Clients that read the dictionary no longer get the item.",
	"deleteFileGroup":                  "409 while it has files.",
	"deleteFilePermanently":            "The file must be in the trash, and can't be restored afterwards.",
	"deleteFilesPermanently":           "The files must be in the trash, and can't be restored afterwards.",
	"deletePermission":                 "409 while it has children, or if an operation needs its key. Roles lose the permission.",
	"deleteRole":                       "409 while users have it.",
	"deleteSetting":                    "Built-in settings can't be deleted.",
	"deleteSettingGroup":               "409 while it has settings.",
	"deleteUser":                       "The user's sessions end. 409 for the last enabled owner.",
	"deleteUsers":                      "The users' sessions end. 409 for the last enabled owner.",
	"downloadBackup":                   "A consistent archive of the database and all files, made while the server runs; without the encryption key, unless the archive is encrypted itself.",
	"downloadFile":                     "Images can be scaled down with thumb.",
	"downloadFileBySignedLink":         "Takes the query of a URL that createFileLink has returned.",
	"downloadPublicFile":               "Takes the key in the URL of a public file or avatar.",
	"enableOrDisableAppUser":           "Disabling a user ends the user's sessions.",
	"enableOrDisablePermission":        "Disabling a permission revokes it, and all permissions below it, from everybody except owners.",
	"enableOrDisableUser":              "Disabling a user ends the user's sessions. 409 for the last enabled owner.",
	"downloadAppUserData":              "Returns a zip with everything that is stored about the app user, as JSON; README.txt in it explains the files. The change log has an entry for each use.",
	"downloadUserData":                 "Returns a zip with everything that is stored about the user, as JSON; README.txt in it explains the files. The change log has an entry for each use.",
	"endOwnSession":                    "Its token stops working at once.",
	"endSession":                       "Its token stops working at once.",
	"eraseAppUser":                     "Deletes the app user and the personal data in the sign-in log, monitoring and change log, for ever. The username confirms it. 409 for your own account.",
	"eraseUser":                        "Deletes the user and the personal data in the sign-in log, monitoring and change log, and removes the name from files and jobs, for ever. The username confirms it. 409 for your own account and for the last enabled owner.",
	"explainAppUserPermission":         "Returns whether an app user has a permission, and which roles grant it or why none does. With at, the answer is for an earlier time, from the change log, which is read back to that time.",
	"listAppPermissions":               "Returns the tree of all app permissions. Their keys begin with app.",
	"explainUserPermission":            "Returns whether a user has a permission, and which roles grant it or why none does. With at, the answer is for an earlier time, from the change log; a user who has been deleted since is found only with the data scope all.",
	"exportUsers":                      "Returns all matching users as CSV, with the columns that importUsers accepts.",
	"exportAppUsers":                   "Returns all matching app users as CSV, with the columns that importAppUsers accepts.",
	"getAppHome":                       "Returns the site's title and logo, the server's time and the values of public settings.",
	"getEffectivePermissions":          "Returns the permissions that a user has now, and the departments of the data scope.",
	"getMetrics":                       "Returns metrics in the text format of Prometheus.",
	"getOpenAPIDocument":               "Returns this document.",
	"getOwnAccount":                    "Returns your user record, the menus you can open and the keys of your permissions.",
	"getRequestStatistics":             "Returns counts and durations of requests over time, by route and by user.",
	"getRequestWithEvents":             "404 if the request was not recorded or has expired.",
	"getSettingValues":                 "Returns values by group and key, decoded by type; secrets are masked.",
	"getSystemHealth":                  "Returns the state of each part of the server and the worst of them.",
	"getSystemInformation":             "Returns the version, memory, database files, caches and the configuration in effect, with secrets masked.",
	"importUsers":                      "All or nothing: if one row is invalid, no user is created, and errors has the faults by line and column, at most 1000. With dry_run=1 it only returns a verdict for each row. The column password_hash, for which you need the permission admin.list.password, too, has hashes of bcrypt, argon2 or scrypt that another program has made; each is replaced when its user signs in. Users with the owner role can't have one.",
	"importAppUsers":                   "All or nothing: if one row is invalid, no user is created, and errors has the faults by line and column, at most 1000. With dry_run=1 it only returns a verdict for each row. The column password_hash, for which you need the permission user.list.password, too, has hashes of bcrypt, argon2 or scrypt that another program has made; each is replaced when its user signs in.",
	"listBuiltInSettings":              "Returns the keys, by group, of settings that can't be deleted, renamed, moved or retyped.",
	"listDepts":                        "Returns the departments in your data scope as a tree, ordered by sort, then id.",
	"listPublicDicts":                  "Returns the enabled dictionaries that are public, with their enabled items, by code. For apps and web sites; which origins may read it is configured for all operations, see server.cors_origins.",
	"readConfiguration":                "For applications. Without a token and for app users, it has the public setting groups and the public dictionaries; for backend users and API keys, also groups whose permission system.setting.read.<group> they have, and all enabled dictionaries. An API key that has system.setting.secret.<group>, too, gets the secrets of the group in the clear, and the change log says so; others find them named in withheld. With wait and If-None-Match, the answer comes as soon as it is another one. 403 names the permission that a group in groups needs; without a token it is 401.",
	"listClientLibraries":              "Returns the packages for TypeScript and Go that this server serves. No token is needed.",
	"listPermissions":                  "Returns all permissions as a tree, ordered by sort, then id.",
	"listEnabledDicts":                 "Returns the enabled dictionaries with their enabled items, by code.",
	"listParentPermissions":            "Returns menus and pages only, each with id, name, parent_id and children.",
	"listTraces":                       "Returns the traces in memory; a restart ends them.",
	"moveFileToTrash":                  "It can be restored until it is deleted permanently.",
	"moveFilesToTrash":                 "They can be restored until they are deleted permanently.",
	"readManual":                       "Returns the topics of the manual as HTML, in English.",
	"rebuildSettingsCache":             "Reads all settings from the database again, and returns their number and the time it took.",
	"resetAppUserPassword":             "Ends the user's sessions. Without a password one is generated and returned once; the user must change it.",
	"resetUserPassword":                "Ends the user's sessions. Without a password one is generated and returned once; the user must change it.",
	"saveSettingValues":                "All or nothing: if one value is invalid, none is saved, and errors lists every invalid one.",
	"setOwnPicture":                    "Stores an image as the avatar, scaled down and without metadata.",
	"setRolePermissions":               "Replaces all permissions of the role. You can grant only permissions that you have, or those of roles that you can assign.",
	"signIn":                           "Returns a token for the Authorization header.",
	"signInAsAppUser":                  "Returns a token for the Authorization header.",
	"signOut":                          "Ends the session of the token.",
	"signOutAsAppUser":                 "Ends the session of the token.",
	"startTrace":                       "Records every matching request in full, for a limited time.",
	"stopTrace":                        "Matching requests are no longer recorded in full.",
	"updateOwnAppPassword":             "Ends all your other sessions.",
	"updateOwnPassword":                "Ends all your other sessions.",
	"uploadFiles":                      "All or nothing: if one file is rejected, none is stored.",
	"deleteCustomField":                "The field can no longer be used, and its values are removed from the records in the background. A new field of the same key does not get them.",
	"deleteCustomFields":               "The fields can no longer be used, and their values are removed from the records in the background.",
	"checkRecordsOfCustomFieldAgain":   "Compares all records with the declaration once more, for example after duplicate values of a unique field were changed.",
	"listCustomFieldsThatYouCanUse":    "Returns the fields that you can read, for forms and lists: those of users, of app users, and of your own account. What you can't read is left out.",
	"listCustomFieldsOfAppUsers":       "Returns the fields that app users can read of their own record, for the form of a registration.",
}

// description returns what a client must know about an operation beyond its title.
func description(rt *web.Route) string {
	var all []string
	say := func(applies bool, text string) {
		if applies && text != "" {
			all = append(all, text)
		}
	}
	say(true, Notes[web.OperationID(rt)])
	switch {
	case rt.Binary != "":
		say(rt.Binary != "application/json", "The answer is the content itself, without an envelope.")
	case rt.List != nil:
		order := "ordered by " + rt.List.Order
		if strings.Contains(rt.List.Order, "first") {
			order = rt.List.Order
		}
		if rt.List.Names(web.Sorted) != nil {
			order += ", unless sorter is given"
		}
		say(true, "Returns one page of the records that match all parameters, "+order+".")
	case rt.Input.Has("query", "ids"):
		say(true, "All or nothing: if one of the records can't be changed, none is.")
	case web.IsRecord(rt.Output):
		say(rt.Method == "GET", "Returns the whole record.")
		say(rt.Method == "POST", "Returns the record that was created.")
		several := len(jsonFields(rt.Input)) > 1
		say(rt.Method == "PUT" && several, "Changes only the fields that are sent, and returns the whole record.")
		say(rt.Method == "PUT" && !several, "Returns the whole record.")
	}
	say(rt.ETag, "304 if If-None-Match names the current ETag.")
	say(rt.Ranges, "Answers Range with a part.")
	say(rt.RateLimited, "429 after too many failed attempts.")
	say(rt.Keys == web.ByNoKey, "API keys cannot be used.")
	say(rt.Keys == web.ByPersonalKey, "Service keys cannot be used.")
	say(rt.KeyAccess != "", "API keys need the permission "+rt.KeyAccess+" instead.")
	say(rt.AllowedBeforePasswordChange, "Available while the password must be changed.")
	return strings.Join(append(all, AccessText(rt.Access)), " ")
}

func jsonFields(in *web.Input) []*web.Field {
	return slices.DeleteFunc(slices.Clone(in.Fields), func(f *web.Field) bool { return f.From != "json" })
}

func AccessText(access string) string {
	switch access {
	case web.Public:
		return "No token is needed."
	case web.SignedIn:
		return "Needs the token of a backend user; no permission."
	case web.AppOnly:
		return "Needs the token of an app user."
	case web.AnyRealm:
		return "A token is optional: the response depends on it."
	case web.MetricsToken:
		return "Needs the metrics token of the configuration."
	}
	return "Needs the permission " + access + "."
}
