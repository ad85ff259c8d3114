package store

import (
	"encoding/json"
	"errors"
	"strings"

	"reeve/store/fold"
	"reeve/store/kv"
)

// Until schema 19, texts were compared in lower case. This migration moves the index entries of
// those that are compared in another form now, and notes the records with texts that only read the
// same now: see kv.Clash. Search texts follow while the database is in use.
func compareTexts(tx *Tx) error {
	unique := map[string]bool{} // IDs of custom fields
	for f, err := range fieldsOf19.All(tx) {
		if err != nil {
			return err
		}
		unique[f.ID.String()] = bool(f.Unique) && !bool(f.Deleted)
	}

	isUnique := func(key string) bool {
		id, _, _ := strings.Cut(key, ":")
		return unique[id]
	}

	same := fold.IsUnchanged
	return errors.Join(
		Users.Rekey(tx, same,
			UserByName.Was(func(u *User) string { return fold.Lower(u.Username) }),
			UserByEmail.Was(func(u *User) string { return fold.Lower(u.Email) }),
			UserByField.Was(func(u *User) []string {
				return fieldKeysOf19(u.Fields, u.FieldMarks)
			}, isUnique)),
		AppUsers.Rekey(tx, same,
			AppUserByName.Was(func(u *AppUser) string { return fold.Lower(u.Username) }),
			AppUserByEmail.Was(func(u *AppUser) string { return fold.Lower(u.Email) }),
			AppUserByField.Was(func(u *AppUser) []string {
				return fieldKeysOf19(u.Fields, u.FieldMarks)
			}, isUnique)),
		Roles.Rekey(tx, same, RoleByName.Was(func(r *Role) string { return fold.Lower(r.Name) })),
		AppRoles.Rekey(tx, same, AppRoleByName.Was(func(r *AppRole) string {
			return fold.Lower(r.Name)
		})),
		FileGroups.Rekey(tx, same, FileGroupByName.Was(func(g *FileGroup) string {
			return fold.Lower(g.Name)
		})),
		Files.Rekey(tx, same, FileByName.Was(func(f *File) []string {
			return []string{fold.Lower(f.Name)}
		}, nil)),
		Links.Rekey(tx, same, LinkByRegistration.Was(func(l *Link) string {
			return fold.Lower(registrationAddress(l))
		})),
		DictItems.Rekey(tx, same, DictItemByValue.Was(func(i *DictItem) string {
			return i.DictID.String() + "." + i.Value
		})),
		Users.OutdateTexts(tx), AppUsers.OutdateTexts(tx), Roles.OutdateTexts(tx),
		AppRoles.OutdateTexts(tx), Files.OutdateTexts(tx),
		APIKeys.OutdateTexts(tx), LoginLogs.OutdateTexts(tx), Webhooks.OutdateTexts(tx),
	)
}

// fieldOf19 is a CustomField as it was.
type fieldOf19 struct {
	Ident
	Unique  Flag `json:"unique"`
	Deleted Flag `json:"deleted"`
	kv.Timestamps
}

var fieldsOf19 = kv.NewCollection[fieldOf19]("custom_field")

// fieldKeysOf19 is fieldKeys as it was.
func fieldKeysOf19(values FieldValues, marks FieldMarks) (keys []string) {
	for _, m := range marks {
		value := values.Get(m.ID)
		switch {
		case value == "":
		case strings.Contains(m.How, byText):
			keys = append(keys, m.ID.String()+":"+fold.Lower(value))
		case strings.Contains(m.How, byNumber):
			keys = append(keys, m.ID.String()+":"+numberKey(value))
		case strings.Contains(m.How, byEntry):
			var entries []string
			if json.Unmarshal([]byte(value), &entries) == nil {
				for _, entry := range entries {
					keys = append(keys, m.ID.String()+":"+fold.Lower(entry))
				}
			}
		}
	}
	return keys
}
