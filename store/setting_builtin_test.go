package store

import (
	"errors"
	"testing"

	"reeve/store/disk/disktest"
)

// Declaring a setting is enough: it need not be added to a list.
var (
	testNumber = number("declared", "number", 7, 1, 9)
	testText   = text("declared", "text", "words", 60)
	testSwitch = toggle("declared", "switch", "1")
)

func TestBuiltinSetting_Default(t *testing.T) {
	for name, seed := range map[string]func(*Tx) error{
		"added":         func(tx *Tx) error { return AddBuiltins(tx, nil, nil) },
		"not added yet": func(*Tx) error { return nil },
		"made by people before it was declared": func(tx *Tx) error {
			err := SettingGroups.Create(tx, &SettingGroup{Key: "declared"})
			return errors.Join(err,
				CreateSetting(tx,
					&Setting{GroupID: 1, Key: "number", Type: "input", Values: "many"}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := open(t, t.TempDir(), Options{Seed: seed})
			view(t, db, func(tx *Tx) error {
				disktest.Equal(t, "number", testNumber.Get(tx), 7)
				disktest.Equal(t, "text", testText.Get(tx), "words")
				disktest.Equal(t, "switch", testSwitch.Get(tx), true)
				disktest.Equal(t, "marked after its declaration", LoginLogDays.Get(tx), 90)
				return nil
			})
		})
	}
}

func TestBuiltinSetting_DeclaredOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, b := range Builtins {
		if seen[b.Name()] || builtinOf(b.Group, b.Key) != b {
			t.Errorf("%s is declared twice", b.Name())
		}
		seen[b.Name()] = true
	}
	defer func() {
		if recover() == nil {
			t.Error("a second declaration is accepted")
		}
	}()
	number("declared", "number", 1, 1, 9)
}
