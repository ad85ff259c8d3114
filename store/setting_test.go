package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reeve/store/disk/disktest"
	"reeve/store/errs"
)

const plainSecret = "correct horse battery staple"

// withGroup opens a database with one group, which has ID 1.
func withGroup(t testing.TB, dir string) *DB {
	t.Helper()
	db := open(t, dir, Options{Seed: func(tx *Tx) error {
		return SettingGroups.Create(tx, &SettingGroup{Key: "mail"})
	}})
	return db
}

func secretOf(t testing.TB, db *DB, id ID) (text string) {
	t.Helper()
	view(t, db, func(tx *Tx) (err error) {
		text, err = SettingSecretText(tx, id)
		return err
	})
	return text
}

func TestSecretSetting(t *testing.T) {
	dir := t.TempDir()
	db := withGroup(t, dir)
	update(t, db, func(tx *Tx) error {
		return CreateSetting(tx, &Setting{
			GroupID: 1,
			Key:     "password",
			Type:    "secret",
			Values:  plainSecret,
		})
	})
	save := func(edit func(*Setting)) error {
		return db.Update(System, func(tx *Tx) error {
			_, err := SaveSetting(tx, 1, func(s *Setting) error { edit(s); return nil })
			return err
		})
	}
	for _, test := range []struct {
		name         string
		edit         func(*Setting)
		text, stored string
		fields       string // names of the invalid fields
	}{
		{"created", func(*Setting) {}, plainSecret, SecretMask, ""},
		{"saved with its mask", func(s *Setting) {
			s.Values = SecretMask
			s.Title = "Password"
		}, plainSecret, SecretMask, ""},
		{"of another type with the mask as value", func(s *Setting) {
			s.Type = "input"
		}, plainSecret, SecretMask, "values"},
		{"changed", func(s *Setting) { s.Values = "other" }, "other", SecretMask, ""},
		{"removed", func(s *Setting) { s.Values = "" }, "", "", ""},
		{"masked although there is none", func(s *Setting) {
			s.Values = SecretMask
		}, "", "", "values"},
		{"given again", func(s *Setting) { s.Values = plainSecret }, plainSecret, SecretMask, ""},
		{"of another type with another value", func(s *Setting) {
			s.Type = "input"
			s.Values = "shown"
		}, "", "shown", ""},
		{"a secret again", func(s *Setting) {
			s.Type = "secret"
			s.Values = "hidden"
		}, "hidden", SecretMask, ""},
	} {
		err := save(test.edit)
		if test.fields != "" {
			disktest.Equal(t, test.name, refusalOf(t, err),
				refusal{errs.Invalid, "invalid", test.fields})
		} else if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		disktest.Equal(t, "text once "+test.name, secretOf(t, db, 1), test.text)
		disktest.Equal(t, "stored once "+test.name, allOf(t, db, Settings)[0].Values, test.stored)
		if n := len(allOf(t, db, SettingSecrets)); n > 1 || (n == 1) != (test.text != "") {
			t.Errorf("%s: %d secrets are kept", test.name, n)
		}
	}

	update(t, db, func(tx *Tx) error { return Settings.Delete(tx, 1) })
	disktest.Equal(t, "secrets after the deletion", len(allOf(t, db, SettingSecrets)), 0)
}

// A plain value that happens to equal the mask does not become a secret when the type changes.
func TestSecretSetting_MaskAsPlainValue(t *testing.T) {
	db := withGroup(t, t.TempDir())
	update(t, db, func(tx *Tx) error {
		return CreateSetting(tx, &Setting{
			GroupID: 1,
			Key:     "password",
			Type:    "input",
			Values:  SecretMask,
		})
	})
	err := db.Update(System, func(tx *Tx) error {
		_, err := SaveSetting(tx, 1, func(s *Setting) error { s.Type = "secret"; return nil })
		return err
	})
	if err == nil {
		disktest.Equal(t, "secret", secretOf(t, db, 1), SecretMask)
	} else {
		disktest.Equal(t, "refusal", refusalOf(t, err), refusal{errs.Invalid, "invalid", "values"})
	}
}

func TestSecretSetting_NotInFiles(t *testing.T) {
	dir := t.TempDir()
	db := withGroup(t, dir)
	update(t, db, func(tx *Tx) error {
		return errors.Join(
			CreateSetting(tx, &Setting{
				GroupID: 1,
				Key:     "password",
				Type:    "secret",
				Values:  plainSecret,
			}),
			CreateSetting(tx, &Setting{
				GroupID: 1,
				Key:     "sender",
				Type:    "input",
				Values:  "not a secret at all",
			}))
	})
	view(t, db, func(tx *Tx) error {
		values, err := SettingCache.Get(tx).Values()
		if err == nil && bytes.Contains(values.Effective, []byte(plainSecret)) {
			t.Errorf("the cache holds the secret: %s", values.Effective)
		}
		return err
	})
	shut(t, db)
	plain := 0
	for name, content := range disktest.Snapshot(t, dir) {
		if strings.Contains(content, plainSecret) {
			t.Errorf("%s holds the secret", name)
		}
		plain += strings.Count(content, "not a secret at all")
	}

	if plain == 0 {
		t.Error("the search for plain text finds no plain text at all")
	}

	db = withGroup(t, dir)
	disktest.Equal(t, "after a start", secretOf(t, db, 1), plainSecret)
	shut(t, db)

	if err := os.Remove(filepath.Join(dir, keyName)); err != nil {
		t.Fatal(err)
	}

	db = withGroup(t, dir)
	err := db.View(System, func(tx *Tx) error { _, err := SettingSecretText(tx, 1); return err })
	if err == nil || !strings.Contains(err.Error(), "enter it again") {
		t.Errorf("with another key: %v", err)
	}

	update(t, db, func(tx *Tx) error {
		_, err := SaveSetting(tx, 1, func(s *Setting) error {
			s.Values = "entered again"
			return nil
		})
		return err
	})
	disktest.Equal(t, "entered again", secretOf(t, db, 1), "entered again")
}

// A secret that is copied to another setting in the database cannot be decrypted there.
func TestSecretSetting_BoundToPlace(t *testing.T) {
	db := withGroup(t, t.TempDir())
	update(t, db, func(tx *Tx) error {
		return errors.Join(
			CreateSetting(tx, &Setting{GroupID: 1, Key: "a", Type: "secret", Values: plainSecret}),
			CreateSetting(tx, &Setting{GroupID: 1, Key: "b", Type: "secret"}))
	})
	update(t, db, func(tx *Tx) error {
		_, err := SettingSecrets.Update(tx, 1, func(s *SettingSecret) error {
			s.SettingID = 2
			return nil
		})
		return err
	})
	if err := db.View(System, func(tx *Tx) error {
		_, err := SettingSecretText(tx, 2)
		return err
	}); err == nil {
		t.Error("the secret of one setting opens as another's")
	}
}

// A secret that is encrypted while seeding can be decrypted afterwards.
func TestSecretSetting_OfSeed(t *testing.T) {
	db := open(t, t.TempDir(), Options{Seed: func(tx *Tx) error {
		if err := SettingGroups.Create(tx, &SettingGroup{Key: "mail"}); err != nil {
			return err
		}
		return CreateSetting(tx, &Setting{
			GroupID: 1,
			Key:     "password",
			Type:    "secret",
			Values:  plainSecret,
		})
	}})
	disktest.Equal(t, "secret", secretOf(t, db, 1), plainSecret)
}

func TestSecretSetting_NeverPublic(t *testing.T) {
	db := withGroup(t, t.TempDir())
	update(t, db, func(tx *Tx) error {
		return errors.Join(
			SettingGroups.Create(tx, &SettingGroup{Key: "open", Public: true}),
			CreateSetting(tx, &Setting{GroupID: 1, Key: "a", Type: "secret", Values: plainSecret}),
			CreateSetting(tx, &Setting{GroupID: 2, Key: "b", Type: "input", Values: "x"}))
	})
	for name, test := range map[string]struct {
		fn     func(tx *Tx) error
		fields string
	}{
		"by publishing its group": {func(tx *Tx) error {
			_, err := SettingGroups.Update(tx, 1, func(g *SettingGroup) error {
				g.Public = true
				return nil
			})
			return err
		}, "public"},
		"by moving it to a public group": {func(tx *Tx) error {
			_, err := SaveSetting(tx, 1, func(s *Setting) error { s.GroupID = 2; return nil })
			return err
		}, "type"},
		"by making a public setting one": {func(tx *Tx) error {
			_, err := SaveSetting(tx, 2, func(s *Setting) error {
				s.Type = "secret"
				s.Values = "y"
				return nil
			})
			return err
		}, "type"},
		"by creating it in a public group": {func(tx *Tx) error {
			return CreateSetting(tx, &Setting{GroupID: 2, Key: "c", Type: "secret", Values: "y"})
		}, "type"},
	} {
		t.Run(name, func(t *testing.T) {
			disktest.Equal(t, "refusal", refusalOf(t, db.Update(System, test.fn)),
				refusal{errs.Invalid, "invalid", test.fields})
		})
	}
}

// What was stored before it had to be readable by any client does not make a response unreadable.
func TestDecodeJSON_UnreadableValue(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"a":"\ud800"}`, `[1e999]`, strings.Repeat("9", 400)} {
		if got := decodeJSON(text); got != text {
			t.Errorf("%s: %v", text, got)
		}
	}
	for _, text := range []string{`{"a":"\ud83d\ude00","e":1e9}`, `"\\u"`, `12`} {
		if got, is := decodeJSON(text).(json.RawMessage); !is || string(got) != text {
			t.Errorf("%s: %v", text, got)
		}
	}
}
