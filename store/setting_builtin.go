package store

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"reeve/store/errs"
	"reeve/store/fold"
)

// Builtin is a setting that the program itself uses. Its type, default and bounds are declared
// here and cannot be changed. Its title and description come from the seed data, and its value
// can be changed like that of any other setting.
type Builtin struct {
	Group, Key string
	Type       string
	Default    string
	Props      []Prop
	Options    []Option
	Optional   bool // the value can be empty

	name       string                              // "group.key"
	security   bool                                // changing the value requires SecurityPermission
	owner      bool                                // changing the value requires the owner role
	guard      func(tx *Tx, old, new string) error // further rule of a change; nil for none
	keep       bool                                // the value can only be raised; only the configuration file can lower it
	email      bool                                // the value is an e-mail address
	domains    bool                                // the value is a list of domains
	origins    bool                                // the value is a list of origins
	background string                              // background on which a color has to be legible; "" for any
	returns    bool                                // of them, only those that may get codes: with https, or on this machine
}

// SecurityPermission is required to change a security setting, in addition to the permission of
// the route.
const SecurityPermission = "system.security.save"

// NumberSetting is a builtin setting with an integer value.
type NumberSetting struct{ *Builtin }

// TextSetting is a builtin setting with one line of text, or the URL of an image.
type TextSetting struct{ *Builtin }

// SwitchSetting is a builtin setting with a boolean value.
type SwitchSetting struct{ *Builtin }

// SecretSetting is a builtin setting whose value is stored encrypted.
type SecretSetting struct{ *Builtin }

// Builtins are the builtin settings in the order of their declaration, in which they are also
// shown.
var Builtins []*Builtin

// The builtin settings.
var (
	SiteTitle = text("site", "title", "Reeve", 60)
	SiteLogo  = image("site", "logo")

	SessionIdleMinutes = secured(number("security", "session_idle_minutes", 30, 5, 7*24*60))
	SessionHours       = secured(number("security", "session_hours", 12, 1, 30*24))
	ProviderKeyDays    = secured(number("security", "provider_key_days", 30, 0, 3650)) // 0 for no limit
	PasswordLength     = secured(number("security", "password_length", 8, 8, 128))
	LoginTries         = secured(number("security", "login_tries", 5, 1, 50))
	LoginWindowMinutes = secured(number("security", "login_window_minutes", 15, 5, 24*60))

	LoginLogDays = retention(number("security", "login_log_days", 90, 30, 3650))
	LoginLogRows = retention(number("security", "login_log_rows", 100_000, 10_000, 10_000_000))

	AppRegistration     = securedToggle("app", "registration", "0")
	AppSessionIdleHours = secured(number("app", "session_idle_hours", 7*24, 1, 90*24))
	AppSessionDays      = secured(number("app", "session_days", 30, 1, 365))

	FileImageMB    = number("file", "image_megabytes", 20, 0, 1<<20)
	FileAudioMB    = number("file", "audio_megabytes", 200, 0, 1<<20)
	FileVideoMB    = number("file", "video_megabytes", 2000, 0, 1<<20)
	FileArchiveMB  = number("file", "archive_megabytes", 1000, 0, 1<<20)
	FileDocumentMB = number("file", "document_megabytes", 100, 0, 1<<20)
	FileOtherMB    = number("file", "other_megabytes", 100, 0, 1<<20)
	FileTypes      = text("file", "types", "*/*", 1000)
	FileQuota      = number("file", "quota_megabytes", 0, 0, 1<<30)
	FileFloor      = secured(number("file", "free_megabytes", 256, 64, 1<<20))
	FileTrashDays  = number("file", "trash_days", 30, 1, 3650)

	FileVersionsKept = number("file", "versions", 10, 0, 50)

	SlowRequestMS = number("monitor", "slow_request_ms", 500, 1, 600_000)
	SlowStoreMS   = number("monitor", "slow_store_ms", 50, 1, 600_000)
	NextSteps     = toggle("monitor", "next_steps", "1")

	KeyMaxDays   = secured(number("security", "key_max_days", 365, 1, 3650))
	KeyRate      = secured(number("security", "key_rate_limit", 6000, 60, 100_000_000)) // per minute
	PersonalKeys = securedToggle("security", "personal_keys", "1")

	PasswordSignIn       = guardedToggle(guardPasswords(false), toggle("security", "password_sign_in", "1"))
	ProviderSessionHours = secured(number("security", "provider_session_hours", 12, 1, 30*24))

	// This server sends the links of all users, so a user who can change it can sign in as any of
	// them.
	MailEnabled  = securedToggle("mail", "enabled", "0")
	MailHost     = forOwners(optional(text("mail", "host", "", 255)))
	MailPort     = forOwners(number("mail", "port", 587, 1, 65535))
	MailSecurity = forOwners(choice("mail", "security", "starttls", Option{"STARTTLS", "starttls"},
		Option{"TLS", "tls"}, Option{"None", "none"}))
	MailUsername = forOwners(optional(text("mail", "username", "", 255)))
	MailPassword = forOwners(secret("mail", "password"))
	MailFrom     = address(text("mail", "from", "", 254))
	MailFromName = optional(text("mail", "from_name", "", 64))
	MailReplyTo  = address(text("mail", "reply_to", "", 254))

	SiteContact    = optional(text("site", "contact", "", 200))
	SiteAccent     = accent("site", "accent", lightBackground)
	SiteAccentDark = accent("site", "accent_dark", darkBackground)
	SiteSignInText = optional(paragraphs("site", "sign_in_text", 500))

	AppDeleteAccount         = securedToggle("app", "delete_account", "1")
	AppRegistrationConfirm   = securedToggle("app", "registration_confirm", "0")
	AppRegistrationChallenge = securedToggle("app", "registration_challenge", "0")
	AppRegistrationDomains   = domains(optional(text("app", "registration_domains", "", 1000)))
	AppPages                 = securedToggle("app", "pages", "0")
	AppSecondFactor          = securedToggle("app", "second_factor", "0")
	AppPasskeys              = securedToggle("app", "passkeys", "0")
	AppCodeSignIn            = securedToggle("app", "code_sign_in", "0")
	AppPasswordSignIn        = guardedToggle(guardPasswords(true), toggle("app", "password_sign_in", "1"))

	RequireFactor = guarded(mayChangeRequireFactor,
		choice("security", "require_factor", FactorForNobody, Option{"Nobody", FactorForNobody},
			Option{"Owners", FactorForOwners}, Option{"Everybody", FactorForAll}))
	FactorGraceDays = secured(number("security", "factor_grace_days", 7, 0, 90))

	SessionNetwork = securedToggle("security", "session_network", "0")

	ReauthMinutes = secured(number("security", "reauth_minutes", 10, 1, 24*60))

	// Pages of these origins may call the API, and programs at these origins get the users that this
	// server has signed in, besides the origins in the configuration.
	CORSOrigins    = forOwners(origins(optional(text("security", "cors_origins", "", 4000))))
	ForwardOrigins = forOwners(origins(optional(text("security", "forward_origins", "", 4000))))

	PasswordHistory = secured(number("security", "password_history", 0, 0, 10))

	// Programs at these origins get sessions of the app users who sign in on the hosted pages.
	AppReturnOrigins = forOwners(returnOrigins(optional(text("app", "return_origins", "", 4000))))

	// Copies are made at this hour of the day, by the clock of the machine, and with hourly ones also
	// at each other hour.
	BackupHour        = forOwners(number("backup", "hour", 3, 0, 23))
	BackupHourly      = forOwners(number("backup", "hourly", 0, 0, 24*14))
	BackupDaily       = forOwners(number("backup", "daily", 7, 1, 366))
	BackupWeekly      = forOwners(number("backup", "weekly", 4, 0, 520))
	BackupMonthly     = forOwners(number("backup", "monthly", 6, 0, 120))
	BackupShipSeconds = forOwners(number("backup", "ship_seconds", 10, 1, 3600))
	BackupStreamDays  = forOwners(number("backup", "stream_days", 7, 1, 366))
	BackupProofHours  = forOwners(number("backup", "proof_hours", 26, 1, 24*31))
)

// Name returns the full name of the setting, "group.key".
func (b *Builtin) Name() string { return b.name }

// Get returns the current value, from memory.
func (s *TextSetting) Get(tx *Tx) string { return SettingCache.Get(tx).builtin(s.Builtin) }

// Get returns the current value, from memory.
func (s *NumberSetting) Get(tx *Tx) int { return SettingCache.Get(tx).numbers[s.name] }

// Get returns the current value, from memory.
func (s *SwitchSetting) Get(tx *Tx) bool { return SettingCache.Get(tx).builtin(s.Builtin) == "1" }

// Get decrypts the current value; "" for none.
func (s *SecretSetting) Get(tx *Tx) (string, error) {
	return SettingSecretText(tx, SettingCache.Get(tx).ID(s.name))
}

// builtinNumbers returns the values of the builtin numbers. It runs once for each snapshot of
// the cache.
func builtinNumbers(text func(*Builtin) string) map[string]int {
	numbers := make(map[string]int, len(Builtins))
	for _, b := range Builtins {
		if b.Type != "number" {
			continue
		}
		n, err := strconv.Atoi(text(b))
		if err != nil { // a user created a setting of this name; AddBuiltins will correct its type
			n, err = strconv.Atoi(b.Default)
		}
		if err != nil {
			panic("store: the default of " + b.name + " is not a whole number")
		}
		numbers[b.name] = n
	}
	return numbers
}

// normalizeBuiltin is fit for a builtin setting, which has a value unless it is optional.
func normalizeBuiltin(b *Builtin, s *Setting, text string) (string, error) {
	if text == "" && !b.Optional {
		return "", errs.Say("is required")
	}
	if b.email && text != "" && (!IsAddress(text) || fold.HasIgnorable(text)) {
		return "", errs.Say("must be an email address")
	}
	if b.domains && text != "" && !domainList.MatchString(text) {
		return "", errs.Say("must be domains like example.org, separated by commas")
	}
	if err := b.checkOrigins(text); err != nil {
		return "", err
	}
	if err := b.checkAccent(text); err != nil {
		return "", err
	}
	if _, err := strconv.Atoi(text); s.Type == "number" && err != nil {
		return "", errs.Say("must be an integer")
	}
	return normalize(s, text)
}

func isBuiltinGroup(key string) bool {
	return slices.ContainsFunc(Builtins, func(b *Builtin) bool { return b.Group == key })
}

// protectBuiltin rejects deleting, renaming, moving or changing the type of a builtin setting, and
// values outside the declared bounds.
func protectBuiltin(tx *Tx, old, new *Setting) error {
	group, err := SettingGroups.Get(tx, old.GroupID)
	if err != nil {
		return err
	}

	b := builtinOf(group.Key, old.Key)
	if b == nil {
		return nil
	}
	if new == nil {
		return errs.New(errs.Conflict, "the setting %s is built in and can't be deleted", b.Name()).Coded("in_use")
	}
	if new.Values != old.Values {
		if err := b.authorize(tx); err != nil {
			return err
		}
	}

	faults := errs.Faults{}
	for field, changed := range map[string]bool{
		"key": new.Key != old.Key, "group_id": new.GroupID != old.GroupID,
		"type":    new.Type != old.Type,
		"options": !slices.Equal(new.Options, old.Options),
		"props":   !slices.Equal(new.Props, old.Props),
	} {
		if changed {
			faults.Add(field, "can't be changed: %s is a built-in setting", b.Name())
		}
	}

	if err := faults.Err(errs.Conflict); err != nil {
		return errs.Of(err).Coded("in_use")
	}
	if _, err := normalizeBuiltin(b, new, new.Values); err != nil {
		return errs.Field(errs.Invalid, "values", "%s", err)
	}
	if b.guard != nil && new.Values != old.Values {
		if err := b.guard(tx, old.Values, new.Values); err != nil {
			return err
		}
	}
	if b.keep && lower(new.Values, old.Values) {
		return errs.Field(errs.Invalid, "values",
			"can only be increased; for less than %s, set %s in the configuration file",
			old.Values, b.Name())
	}

	return nil
}

// authorize returns an error if the actor may not change the value.
func (b *Builtin) authorize(tx *Tx) error {
	switch {
	case b.owner && !ceilingFor(tx).all:
		return errs.New(errs.Denied, "only users with the owner role can change %s", b.Name()).Coded("owner_required")
	case b.security && !ActorOf(tx).HasPermission(tx, SecurityPermission):
		return errs.New(errs.Denied, "permission %s is required: %s is a security setting",
			SecurityPermission, b.Name())
	case b.owner || b.security:
		return RequireProof(tx)
	}
	return nil
}

// authorizeSecret returns an error if the actor may not change the value of a secret setting that
// is built in. Its record only has the mask, so that the constraint of settings does not see the
// change.
func authorizeSecret(tx *Tx, s *Setting) error {
	group, err := SettingGroups.Get(tx, s.GroupID)
	if err != nil {
		return err
	}
	if b := builtinOf(group.Key, s.Key); b != nil {
		return b.authorize(tx)
	}
	return nil
}

// domainList matches domains, separated by commas.
var domainList = regexp.MustCompile(`^\s*[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+\s*(,\s*[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+\s*)*$`)

// domainsIn returns the domains in a list, in the form in which they are compared.
func domainsIn(list string) (all []string) {
	for domain := range strings.SplitSeq(list, ",") {
		if domain = fold.Domain(strings.TrimSpace(domain)); domain != "" {
			all = append(all, domain)
		}
	}
	return all
}

// lower reports whether both texts are integers and new is the lower one.
func lower(new, old string) bool {
	n, err := strconv.Atoi(new)
	o, err2 := strconv.Atoi(old)
	return err == nil && err2 == nil && n < o
}

func builtinOf(group, key string) *Builtin {
	i := slices.IndexFunc(Builtins, func(b *Builtin) bool {
		return b.Group == group && b.Key == key
	})
	if i < 0 {
		return nil
	}
	return Builtins[i]
}

// SecuritySetting returns the full name of a setting if it is a security setting, else "".
func SecuritySetting(tx *Tx, s *Setting) (name string, err error) {
	group, err := SettingGroups.Get(tx, s.GroupID)
	if err != nil {
		return "", err
	}
	if b := builtinOf(group.Key, s.Key); b != nil && b.security {
		return b.Name(), nil
	}
	return "", nil
}

// nearest returns the allowed value of a builtin number that is nearest to text; the default if
// text is not a number.
func (b *Builtin) nearest(text string) string {
	if _, err := strconv.Atoi(text); err == nil && b.Type == "number" {
		for _, p := range b.Props {
			if p.Name == "min" && lower(text, p.Value) || p.Name == "max" && lower(p.Value, text) {
				return p.Value
			}
		}
	}
	return b.Default
}

// IsBuiltinGroup reports whether a group has built-in settings.
func IsBuiltinGroup(key string) bool { return isBuiltinGroup(key) }
