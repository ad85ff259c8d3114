package store

import (
	"fmt"
	"regexp"

	"reeve/store/errs"
)

// SettingGroup is a page of settings.
type SettingGroup struct {
	Ident
	Key    string `json:"key"`
	Title  string `json:"title"`
	Remark string `json:"remark"`
	Public Flag   `json:"public"` // its values are for everybody
	Versioned
}

// Setting is a named value that is changed while the program runs. What a secret
// one holds is elsewhere (SettingSecret); here it is a mask or nothing.
type Setting struct {
	Ident
	Key      string   `json:"key"`
	Title    string   `json:"title"`
	Describe string   `json:"describe"`
	Values   string   `json:"values"`
	Type     string   `json:"type" enum:"setting_type"`
	Options  []Option `json:"options"`
	Props    []Prop   `json:"props"`
	GroupID  ID       `json:"group_id"`
	Sort     int64    `json:"sort"`
	Stamps
}

// Option is one of the values to choose from.
type Option struct {
	Label string `json:"label" check:"required,max=200" doc:"what is shown"`
	Value string `json:"value" check:"required,max=200" doc:"what is stored"`
}

// Prop is a bound or a hint for the control: min, max, step, maxlength, or any
// other name, which is kept for the console and not interpreted.
type Prop struct {
	Name  string `json:"name" check:"required,max=64"`
	Value string `json:"value" check:"max=1000"`
}

// SettingSecret is the encrypted value of a setting of type secret.
type SettingSecret struct {
	Ident
	SettingID ID     `json:"setting_id"`
	Sealed    Sealed `json:"sealed"`
	Stamps
}

// SecretMask stands for a secret wherever it could be read; sent back it means unchanged.
const SecretMask = "******"

// Settings, their groups and secrets.
var (
	SettingGroups     = NewCollection[SettingGroup]("setting_group")
	SettingGroupByKey = NewUnique(SettingGroups, "key", func(g *SettingGroup) string { return g.Key })

	Settings       = NewCollection[Setting]("setting")
	SettingByKey   = NewUnique(Settings, "key", func(s *Setting) string { return s.GroupID.String() + "." + s.Key }, "group_id")
	SettingByGroup = NewRef(Settings, "group_id", SettingGroups, func(s *Setting) ID { return s.GroupID }, Refuse)

	SettingSecrets  = NewCollection[SettingSecret]("setting_secret")
	SecretBySetting = NewRef(SettingSecrets, "setting_id", Settings, func(s *SettingSecret) ID { return s.SettingID }, Owned)

	_ = SettingSecrets.Sealed(func(s *SettingSecret) *Sealed { return &s.Sealed },
		func(s *SettingSecret) string { return secretPlace(s.SettingID) }, secretTitle)
	_ = Settings.Rule(settingRule)
	_ = SettingGroups.Rule(settingGroupRule)
)

var settingKey = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// settingRule holds what must be true of a stored setting: it fits its type, a
// secret is masked and not public, what the program uses keeps its shape.
func settingRule(tx *Tx, old, new *Setting) error {
	if old != nil && tx.Actor() != System {
		if err := keepBuiltin(tx, old, new); err != nil || new == nil {
			return err
		}
	}
	if new == nil {
		return nil
	}
	faults := errs.Faults{}
	if !settingKey.MatchString(new.Key) {
		faults.Add("key", "must be lower-case letters, digits and _, beginning with a letter, at most 64")
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
		text, err := fit(new, new.Values)
		if err != nil {
			faults.Add("values", "%s", err)
		}
		new.Values = text
	}
	if err := faults.Err(errs.Invalid); err != nil {
		return err
	}
	if new.Type != "secret" {
		return nil
	}
	if new.Values != "" && new.Values != SecretMask {
		return fmt.Errorf("a secret setting is written through SaveSetting")
	}
	group, err := SettingGroups.Get(tx, new.GroupID)
	if err == nil && bool(group.Public) {
		err = errs.Field(errs.Invalid, "type", "the group %s is public and cannot hold a secret", group.Key)
	}
	return err
}

// settingGroupRule keeps the program's groups and keeps secrets out of public ones.
func settingGroupRule(tx *Tx, old, new *SettingGroup) error {
	if old != nil && tx.Actor() != System && isBuiltinGroup(old.Key) {
		if new == nil {
			return errs.New(errs.Conflict, "setting group %s is used by the program and cannot be deleted", old.Key).Coded("in_use")
		}
		if new.Key != old.Key {
			return errs.Field(errs.Conflict, "key", "%s is used by the program and cannot be renamed", old.Key).Coded("in_use")
		}
	}
	if new == nil {
		return nil
	}
	if !settingKey.MatchString(new.Key) {
		return errs.Field(errs.Invalid, "key", "must be lower-case letters, digits and _, beginning with a letter, at most 64")
	}
	if old == nil || !bool(new.Public) {
		return nil
	}
	for s, err := range SettingByGroup.All(tx, new.ID) {
		if err != nil {
			return err
		}
		if s.Type == "secret" {
			return errs.Field(errs.Invalid, "public", "the group holds the secret %s", s.Key)
		}
	}
	return nil
}

// CreateSetting stores a new setting, its value where it belongs.
func CreateSetting(tx *Tx, s *Setting) error {
	plain, err := maskSecret(s)
	if err != nil {
		return err
	}
	if plain == SecretMask {
		return errs.Field(errs.Invalid, "values", "%s stands for an unchanged secret, and there is none yet", SecretMask)
	}
	if err := Settings.Create(tx, s); err != nil || s.Type != "secret" || plain == "" {
		return err
	}
	return storeSecret(tx, s.ID, plain)
}

// SaveSetting changes a setting: edit may put a plain secret into Values, which
// is stored encrypted and masked in the record.
func SaveSetting(tx *Tx, id ID, edit func(*Setting) error) (*Setting, error) {
	var plain, had, was string
	saved, err := Settings.Update(tx, id, func(s *Setting) error {
		before, masked := s.Type, s.Values
		if err := edit(s); err != nil {
			return err
		}
		if before == "secret" && s.Type != "secret" && s.Values == masked && masked != "" {
			return errs.Field(errs.Invalid, "values", "must be given anew: a secret is not shown by changing its type")
		}
		had, was = before, masked
		var err error
		if plain, err = maskSecret(s); err != nil {
			return err
		}
		if plain == SecretMask && (before != "secret" || masked == "") {
			return errs.Field(errs.Invalid, "values", "%s stands for an unchanged secret, and there is none yet", SecretMask)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	switch {
	case saved.Type == "secret" && plain != SecretMask && (plain != "" || was != ""):
		if err := storeSecret(tx, id, plain); err != nil {
			return nil, err
		}
		return Settings.Renew(tx, id)
	case saved.Type != "secret" && had == "secret":
		return saved, storeSecret(tx, id, "")
	}
	return saved, nil
}

// maskSecret takes the plain text out of a secret setting, holds it to the type
// and returns it.
func maskSecret(s *Setting) (string, error) {
	if s.Type != "secret" || s.Values == "" {
		return "", nil
	}
	plain, err := fit(s, s.Values)
	if err != nil {
		return "", errs.Field(errs.Invalid, "values", "%s", err)
	}
	s.Values = SecretMask
	return plain, nil
}

// storeSecret keeps the one secret of a setting; "" removes it.
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
	sealed, err := tx.seal(secretPlace(setting), plain)
	if err != nil {
		return err
	}
	return SettingSecrets.Create(tx, &SettingSecret{SettingID: setting, Sealed: sealed})
}

// secretPlace is what the value of a secret setting is bound to.
func secretPlace(setting ID) string { return "setting " + setting.String() }

// secretTitle is the name of a secret setting with its group, such as mail.password.
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

// SettingSecretText decrypts a secret setting; "" when it has no value.
func SettingSecretText(tx *Tx, setting ID) (string, error) {
	for secret, err := range SecretBySetting.All(tx, setting) {
		if err != nil {
			return "", err
		}
		return tx.unseal(secretPlace(setting), secret.Sealed)
	}
	return "", nil
}
