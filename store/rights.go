package store

// The collections whose records give rights, see kv.Collection.Rights, with the fields whose change takes
// none away.
var (
	_ = Permissions.Rights()
	_ = Roles.Rights()
	_ = Depts.Rights()
	_ = AppPermissions.Rights()
	_ = AppRoles.Rights()
	_ = Users.Rights("login_ip", "login_time", "notices")
	_ = AppUsers.Rights("login_ip", "login_time")
	_ = PasswordHashes.Rights()
	_ = Sessions.Rights("last_used")
	_ = SessionTokens.Rights()
	_ = APIKeys.Rights("last_used", "last_ip")
	_ = KeySecrets.Rights()
	_ = Links.Rights()
	_ = Settings.Rights()
	_ = SettingSecrets.Rights()
	_ = TOTPs.Rights("last_step", "last_used")
	_ = RecoverySets.Rights()
	_ = Passkeys.Rights("sign_count", "last_used")
	_ = Providers.Rights()
	_ = ProviderSecrets.Rights()
	_ = Identities.Rights("last_login")
	_ = ProviderSessions.Rights()
)
