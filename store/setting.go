package store

import (
	"fmt"
	"regexp"

	"reeve/store/errs"
	"reeve/store/kv"
)

// SettingGroup is a page of settings.
type SettingGroup struct {
	Ident
	Key    string `json:"key"`
	Title  string `json:"title" visible:"name"`
	Remark string `json:"remark"`
	Public Flag   `json:"public"` // anyone can read the values
	Versioned
}

// Setting is a named value that can be changed while the program runs. The value of a secret
// setting is in a SettingSecret; Values is then SecretMask or "".
type Setting struct {
	Ident
	Key      string   `json:"key"`
	Title    string   `json:"title" visible:"name"`
	Describe string   `json:"describe"`
	Values   string   `json:"values"`
	Type     string   `json:"type" enum:"setting_type"`
	Options  []Option `json:"options"`
	Props    []Prop   `json:"props"`
	GroupID  ID       `json:"group_id"`
	Sort     int64    `json:"sort"`
	kv.Timestamps
}

// Option is a choice of a setting.
type Option struct {
	Label string `json:"label" check:"required,max=200" doc:"Text to show"`
	Value string `json:"value" check:"required,max=200" doc:"Value to store"`
}

// Prop is a bound or a hint for the input control. The names min, max, step and maxlength are
// bounds; any other name is stored for the console and not interpreted.
type Prop struct {
	Name  string `json:"name" check:"required,max=64"`
	Value string `json:"value" check:"max=1000"`
}

// SettingSecret is the encrypted value of a secret setting.
type SettingSecret struct {
	Ident
	SettingID ID        `json:"setting_id"`
	Sealed    kv.Sealed `json:"sealed"`
	kv.Timestamps
}

// SecretMask replaces a secret in every response. As an input it means unchanged.
const SecretMask = "******"

// Settings, their groups, secrets and indexes.
var (
	SettingGroups     = kv.NewCollection[SettingGroup]("setting_group").Undoable()
	SettingGroupByKey = kv.NewUnique(SettingGroups, "key", func(g *SettingGroup) string {
		return g.Key
	})

	Settings     = kv.NewCollection[Setting]("setting").Undoable()
	SettingByKey = kv.NewUnique(Settings, "key", func(s *Setting) string {
		return s.GroupID.String() + "." + s.Key
	}, "group_id")
	SettingByGroup = kv.NewRef(Settings, "group_id", SettingGroups, func(s *Setting) ID {
		return s.GroupID
	}, kv.Restrict).Required()

	SettingSecrets  = kv.NewCollection[SettingSecret]("setting_secret")
	SecretBySetting = kv.NewRef(SettingSecrets, "setting_id", Settings, func(s *SettingSecret) ID {
		return s.SettingID
	}, kv.Cascade)

	_ = SettingSecrets.Sealed(func(s *SettingSecret) *kv.Sealed { return &s.Sealed },
		func(s *SettingSecret) string { return secretPlace(s.SettingID) }, secretTitle)
	_ = Settings.Constraint(constrainSetting)
	_ = SettingGroups.Constraint(constrainSettingGroup).Follow(followSettingGroup)
)

var _ = manage(Access{Table: SettingSecrets, Query: "system.setting.query"})

var _ = Manage(Settings, "system.setting", FieldAccess{"values", "system.setting.save"})

var _ = Manage(SettingGroups, "system.setting.group")

var settingKey = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// constrainSetting checks a setting: the value must fit the type, a secret must be masked and not
// public, and the shape of a builtin setting must not change.
func constrainSetting(tx *Tx, old, new *Setting) error {
	if old != nil && ActorOf(tx) != System {
		if err := protectBuiltin(tx, old, new); err != nil || new == nil {
			return err
		}
	}
	if new == nil {
		return nil
	}

	faults := errs.Faults{}
	if !settingKey.MatchString(new.Key) {
		faults.Add("key",
			"must be 1 to 64 lower-case letters, digits or underscores, starting with a letter")
	}
	if new.GroupID == 0 {
		faults.Add("group_id", "is required")
	}
	if new.Options == nil {
		new.Options = []Option{}
	}
	if new.Props == nil {
		new.Props = []Prop{}
	}

	checkShape(new, faults)
	if len(faults) == 0 && new.Type != "secret" {
		text, err := normalize(new, new.Values)
		if err != nil {
			faults.Add("values", "%s", err)
		}
		new.Values = text
	}
	if err := faults.Err(errs.Invalid); err != nil {
		return err
	}
	if new.Type != "secret" {
		return checkFlag(tx, old, new)
	}
	if new.Values != "" && new.Values != SecretMask {
		return fmt.Errorf("a secret setting is written through SaveSetting")
	}

	group, err := SettingGroups.Get(tx, new.GroupID)
	if err == nil && bool(group.Public) {
		err = errs.Field(errs.Invalid, "type", "the group %s is public and can't contain a secret",
			group.Key)
	}

	return err
}

// constrainSettingGroup protects the groups of builtin settings and rejects secrets in public
// groups.
func constrainSettingGroup(tx *Tx, old, new *SettingGroup) error {
	if old != nil && ActorOf(tx) != System && isBuiltinGroup(old.Key) {
		if new == nil {
			return errs.New(errs.Conflict, "the setting group %s is built in and can't be deleted",
				old.Key).Coded("in_use")
		}
		if new.Key != old.Key {
			return errs.Field(errs.Conflict, "key", "%s is built in and can't be renamed", old.Key).Coded("in_use")
		}
	}
	if new == nil {
		return nil
	}
	if !settingKey.MatchString(new.Key) {
		return errs.Field(errs.Invalid, "key",
			"must be 1 to 64 lower-case letters, digits or underscores, starting with a letter")
	}
	if old == nil || !bool(new.Public) {
		return nil
	}

	for s, err := range SettingByGroup.All(tx, new.ID) {
		if err != nil {
			return err
		}
		if s.Type == "secret" {
			return errs.Field(errs.Invalid, "public", "the group contains the secret %s", s.Key)
		}
	}

	return nil
}

// CreateSetting stores a new setting. The value of a secret one is stored encrypted.
func CreateSetting(tx *Tx, s *Setting) error {
	plain, err := maskSecret(s)
	if err != nil {
		return err
	}
	if plain == SecretMask {
		return errs.Field(errs.Invalid, "values",
			"%s means an unchanged secret, but none is stored", SecretMask)
	}
	if err := Settings.Create(tx, s); err != nil || s.Type != "secret" || plain == "" {
		return err
	}
	return storeSecret(tx, s.ID, plain)
}

// SaveSetting changes a setting. edit may set Values to the plain text of a secret, which is
// stored encrypted and masked in the record.
func SaveSetting(tx *Tx, id ID, edit func(*Setting) error) (*Setting, error) {
	var plain, had, was string
	saved, err := Settings.Update(tx, id, func(s *Setting) error {
		before, masked, group := s.Type, s.Values, s.GroupID
		if err := edit(s); err != nil {
			return err
		}
		if before == "secret" && s.Type != "secret" && s.Values == masked && masked != "" {
			return errs.Field(errs.Invalid, "values",
				"enter the value again: changing the type does not reveal a secret")
		}
		if before == "secret" && s.Type == "secret" && s.GroupID != group && s.Values == masked &&
			masked != "" {
			if err := mayMoveSecret(tx, group); err != nil {
				return err
			}
		}

		had, was = before, masked
		var err error
		if plain, err = maskSecret(s); err != nil {
			return err
		}
		if plain == SecretMask && (before != "secret" || masked == "") {
			return errs.Field(errs.Invalid, "values",
				"%s means an unchanged secret, but none is stored", SecretMask)
		}

		return nil
	})
	if err != nil {
		return nil, err
	}

	switch {
	case saved.Type == "secret" && plain != SecretMask && (plain != "" || was != ""):
		if err := authorizeSecret(tx, saved); err != nil {
			return nil, err
		}
		if err := storeSecret(tx, id, plain); err != nil {
			return nil, err
		}
		return Settings.Bump(tx, id)
	case saved.Type != "secret" && had == "secret":
		return saved, storeSecret(tx, id, "")
	}

	return saved, nil
}

// mayMoveSecret returns an error if the actor may not read the secrets of the group that one is
// moved from: the other group has other readers.
func mayMoveSecret(tx *Tx, from ID) error {
	g, err := SettingGroups.Get(tx, from)
	if err != nil {
		return err
	}
	if a := ActorOf(tx); a.HasPermission(tx, ReadPermission(g.Key)) &&
		a.HasPermission(tx, SecretPermission(g.Key)) {
		return nil
	}
	return errs.Field(errs.Invalid, "values",
		"enter the value again: another group has other readers, and you may not read the secrets of this one")
}

// maskSecret checks the plain text of a secret setting, returns it and replaces it by
// SecretMask.
func maskSecret(s *Setting) (string, error) {
	if s.Type != "secret" || s.Values == "" {
		return "", nil
	}
	plain, err := normalize(s, s.Values)
	if err != nil {
		return "", errs.Field(errs.Invalid, "values", "%s", err)
	}
	s.Values = SecretMask
	return plain, nil
}

// storeSecret replaces the secret of a setting; "" deletes it.
func storeSecret(tx *Tx, setting ID, plain string) error {
	had, err := SecretBySetting.IDs(tx, setting)
	if err != nil {
		return err
	}

	for _, id := range had {
		if err := SettingSecrets.Delete(tx, id); err != nil {
			return err
		}
	}

	if plain == "" {
		return nil
	}

	sealed, err := tx.Seal(secretPlace(setting), plain)
	if err != nil {
		return err
	}

	return SettingSecrets.Create(tx, &SettingSecret{SettingID: setting, Sealed: sealed})
}

// secretPlace returns the place that a secret is bound to, see kv.Tx.Seal.
func secretPlace(setting ID) string { return "setting " + setting.String() }

// secretTitle returns the title of a secret setting for people, such as "setting
// mail.password".
func secretTitle(tx *Tx, s *SettingSecret) (string, error) {
	setting, err := Settings.Get(tx, s.SettingID)
	if err != nil {
		return "", err
	}
	group, err := SettingGroups.Get(tx, setting.GroupID)
	if err != nil {
		return "", err
	}
	return "setting " + group.Key + "." + setting.Key, nil
}

// SettingSecretText decrypts the value of a secret setting; "" if it has none.
func SettingSecretText(tx *Tx, setting ID) (string, error) {
	secret, err := storedSecret(tx, setting)
	if err != nil || secret == nil {
		return "", err
	}
	return tx.Unseal(secretPlace(setting), secret.Sealed)
}
