package store

import "reeve/store/errs"

// BuiltinTexts are the title and description of a builtin setting in the seed data.
type BuiltinTexts struct{ Title, Describe string }

// FreeGroup renames a group of settings that administrators of an older version have created with
// the key of a group that is now built in: its values must not become those of the program, and a
// public one could not hold the program's secrets. Its permissions are renamed with it.
func FreeGroup(tx *Tx, key string) error {
	group, err := SettingGroupByKey.Get(tx, key)
	if err != nil {
		return ignoreMissing(err)
	}

	own := "own_" + key
	if _, err := SettingGroupByKey.Get(tx, own); err == nil {
		own += "_" + group.ID.String()
	} else if !errs.Is(err, errs.NotFound) {
		return err
	}

	_, err = SettingGroups.Update(tx, group.ID, func(g *SettingGroup) error {
		g.Key = own
		return nil
	})
	return err
}

// AddBuiltins creates missing builtin settings and groups, and updates the type and bounds of
// the others to those of this version.
func AddBuiltins(tx *Tx, groups map[string]SettingGroup, texts map[string]BuiltinTexts) error {
	for i, b := range Builtins {
		group, err := SettingGroupByKey.Get(tx, b.Group)
		if errs.Is(err, errs.NotFound) {
			g := groups[b.Group]
			g.Key = b.Group
			group, err = &g, SettingGroups.Create(tx, &g)
		}
		if err != nil {
			return err
		}

		stored, err := SettingByKey.Get(tx, group.ID.String()+"."+b.Key)
		if err == nil {
			_, err = Settings.Update(tx, stored.ID, func(s *Setting) error {
				s.Type, s.Props, s.Options = b.Type, b.Props, b.Options
				if _, err := normalizeBuiltin(b, s, s.Values); err != nil {
					s.Values = b.nearest(s.Values)
				}
				return nil
			})
		} else if errs.Is(err, errs.NotFound) {
			t := texts[b.Name()]
			err = Settings.Create(tx, &Setting{
				GroupID:  group.ID,
				Key:      b.Key,
				Type:     b.Type,
				Values:   b.Default,
				Props:    b.Props,
				Options:  b.Options,
				Title:    t.Title,
				Describe: t.Describe,
				Sort:     int64(i+1) * 10,
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// BuiltinDefault returns the default of a built-in setting, and whether it is one.
func BuiltinDefault(group, key string) (value string, is bool) {
	if b := builtinOf(group, key); b != nil {
		return b.Default, true
	}
	return "", false
}
