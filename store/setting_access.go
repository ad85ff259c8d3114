package store

import (
	"strings"

	"reeve/store/errs"
)

// Each group of settings has two permissions, with which programs read its values. They are nodes
// of the permission tree that are created, renamed and deleted together with the group, and cannot
// be deleted or get another key while it exists. Only owners have them until a role gets them.
const (
	readGroupPrefix   = "system.setting.read."
	secretGroupPrefix = "system.setting.secret."

	// GroupPermissionParent is the key of the node below which they are created.
	GroupPermissionParent = "system.setting.read"
)

// ReadPermission returns the key of the permission to read the values of a group of settings.
func ReadPermission(group string) string { return readGroupPrefix + group }

// SecretPermission returns the key of the permission to read the secrets of a group of settings in
// the clear, with an API key that also has ReadPermission.
func SecretPermission(group string) string { return secretGroupPrefix + group }

// groupOfPermission returns the key of the group that a permission with this key belongs to; "" for
// none. The group need not exist.
func groupOfPermission(key string) string {
	for _, prefix := range []string{readGroupPrefix, secretGroupPrefix} {
		if group, ok := strings.CutPrefix(key, prefix); ok {
			return group
		}
	}
	return ""
}

// groupPermissions returns the two permissions of a group.
func groupPermissions(g *SettingGroup) [2]Permission {
	node := func(key, name string) Permission {
		return Permission{
			Type:   ActionPermission,
			Key:    key,
			Name:   shorten(name+": "+g.Title, maxPermissionName),
			Show:   true,
			Status: true,
		}
	}
	return [2]Permission{node(ReadPermission(g.Key), "Read settings"),
		node(SecretPermission(g.Key), "Read secrets")}
}

// maxPermissionName is the maximum length of the name of a permission, in characters.
const maxPermissionName = 64

func shorten(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// protectGroupPermission keeps the permissions of a group as long as the group exists, and reserves
// the keys of others.
func protectGroupPermission(tx *Tx, old, new *Permission) error {
	if ActorOf(tx) == System {
		return nil
	}
	if old != nil && groupOfPermission(old.Key) != "" {
		if _, err := SettingGroupByKey.Get(tx, groupOfPermission(old.Key)); err == nil {
			return keepGroupPermission(old, new)
		} else if !errs.Is(err, errs.NotFound) {
			return err
		}
	}

	restored := old == nil && new != nil && new.ID != 0 // with its group, which comes after it
	if new != nil && groupOfPermission(new.Key) != "" && !restored &&
		(old == nil || old.Key != new.Key) {
		return reservedKey(new.Key)
	}

	return nil
}

func reservedKey(key string) error {
	return errs.Field(errs.Invalid, "key",
		"is reserved: permissions that begin with %s are created together with their group of settings", key[:strings.LastIndexByte(key, '.')])
}

func keepGroupPermission(old, new *Permission) error {
	switch {
	case new == nil:
		return errs.New(errs.Conflict,
			"the permission %s belongs to a group of settings and can't be deleted; disable it instead", old.Key).Coded("in_use")
	case new.Key != old.Key:
		return errs.Field(errs.Conflict, "key",
			"%s belongs to a group of settings and can't be renamed", old.Key).Coded("in_use")
	case new.Type != old.Type:
		return errs.Field(errs.Conflict, "type",
			"%s belongs to a group of settings and must be an action", old.Key).Coded("in_use")
	}
	return nil
}

// followSettingGroup creates, renames or deletes the permissions of a group.
func followSettingGroup(tx *Tx, old, new *SettingGroup) error {
	switch {
	case old == nil:
		return addGroupPermissions(tx, new)
	case new == nil:
		return deleteGroupPermissions(tx, old)
	case old.Key != new.Key || old.Title != new.Title:
		return renameGroupPermissions(tx, old, new)
	}
	return nil
}

// AddGroupPermissions adds the permissions that groups lack: those of a database that an older
// version has written, or that was salvaged.
func AddGroupPermissions(tx *Tx) error {
	var groups []*SettingGroup
	for g, err := range SettingGroups.All(tx) {
		if err != nil {
			return err
		}
		groups = append(groups, g)
	}
	for _, g := range groups {
		if err := addGroupPermissions(tx, g); err != nil {
			return err
		}
	}
	return nil
}

// addGroupPermissions creates the permissions of a group that do not exist, below the node for
// them; at the root if there is no such node that can have children.
func addGroupPermissions(tx *Tx, g *SettingGroup) error {
	parent := ID(0)
	above, err := PermissionByKey.Get(tx, GroupPermissionParent)
	switch {
	case err == nil && above.Type != ActionPermission:
		parent = above.ID
	case err != nil && !errs.Is(err, errs.NotFound):
		return err
	}

	for _, p := range groupPermissions(g) {
		if _, err := PermissionByKey.Get(tx, p.Key); err == nil {
			continue
		} else if !errs.Is(err, errs.NotFound) {
			return err
		}
		p.ParentID = parent
		if err := Permissions.Create(tx, &p); err != nil {
			return err
		}
	}

	return nil
}

func deleteGroupPermissions(tx *Tx, g *SettingGroup) error {
	for _, p := range groupPermissions(g) {
		stored, err := PermissionByKey.Get(tx, p.Key)
		if err == nil {
			err = Permissions.Delete(tx, stored.ID)
		}
		if err != nil && !errs.Is(err, errs.NotFound) {
			return err
		}
	}
	return nil
}

// renameGroupPermissions gives the permissions of a group its new key and title. A name chosen by a
// user stays.
func renameGroupPermissions(tx *Tx, old, new *SettingGroup) error {
	was, is := groupPermissions(old), groupPermissions(new)
	for i := range was {
		stored, err := PermissionByKey.Get(tx, was[i].Key)
		if errs.Is(err, errs.NotFound) {
			continue // AddGroupPermissions adds it
		}
		if err != nil {
			return err
		}

		_, err = Permissions.Update(tx, stored.ID, func(p *Permission) error {
			p.Key = is[i].Key
			if p.Name == was[i].Name {
				p.Name = is[i].Name
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// FreeGroupPermissions renames permissions that administrators of an older version have created
// with keys that are now those of groups, so that an older role does not give access to a group.
func FreeGroupPermissions(tx *Tx) error {
	var taken []*Permission
	for p, err := range Permissions.All(tx) {
		if err != nil {
			return err
		}
		if groupOfPermission(p.Key) != "" {
			taken = append(taken, p)
		}
	}

	for _, p := range taken {
		key := "own" + strings.TrimPrefix(p.Key, "system")
		if _, err := PermissionByKey.Get(tx, key); err == nil {
			key += "-" + p.ID.String()
		}
		if _, err := Permissions.Update(tx, p.ID, func(p *Permission) error {
			p.Key = key
			return nil
		}); err != nil {
			return err
		}
	}

	return nil
}

// IsGroupPermission reports whether a permission key is reserved for a group of settings.
func IsGroupPermission(key string) bool { return groupOfPermission(key) != "" }
