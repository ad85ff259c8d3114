package store

// The collections whose records give rights, see kv.Collection.Rights, with the fields whose change takes
// none away.
var (
	_ = Permissions.Rights(nil)
	_ = Roles.Rights(nil)
	_ = Depts.Rights(nil)
	_ = AppPermissions.Rights(nil)
	_ = AppRoles.Rights(nil)
	_ = Users.Rights(func(u *User) { u.LoginIP, u.LoginTime, u.Notices = "", 0, nil })
	_ = AppUsers.Rights(func(u *AppUser) { u.LoginIP, u.LoginTime = "", 0 })
	_ = PasswordHashes.Rights(nil)
	_ = Sessions.Rights(func(s *Session) { s.LastUsed = 0 })
	_ = SessionTokens.Rights(nil)
	_ = APIKeys.Rights(func(k *APIKey) { k.LastUsed, k.LastIP = 0, "" })
	_ = KeySecrets.Rights(nil)
	_ = Links.Rights(nil)
	_ = Settings.Rights(nil)
	_ = SettingSecrets.Rights(nil)
	_ = TOTPs.Rights(func(t *TOTP) { t.LastStep, t.LastUsed = 0, 0 })
	_ = RecoverySets.Rights(nil)
	_ = Passkeys.Rights(func(p *Passkey) { p.SignCount, p.LastUsed = 0, 0 })
	_ = Providers.Rights(nil)
	_ = ProviderSecrets.Rights(nil)
	_ = Identities.Rights(nil)
	_ = ProviderSessions.Rights(nil)
)
