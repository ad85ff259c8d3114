package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"reeve/auth"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// Seed fills a new database and upgrades an older one.
type Seed struct {
	Files    fs.FS  // permissions.json and names.json
	Username string // username of the first user; CheckUsername has checked it
	Password string // password of the first user
	// MustChange requires the first user to change the password, because the program
	// generated it.
	MustChange bool
	Cost       int // bcrypt cost
}

// names are the texts of the seed data.
type names struct {
	OwnerRole struct{ Name, Description string } `json:"owner_role"`
	FirstUser struct{ Nickname string }          `json:"first_user"`
	Groups    map[string]store.SettingGroup      `json:"groups"`
	Settings  map[string]store.BuiltinTexts      `json:"settings"`
}

// menuPlace is a menu or a page of the seed data. An action belongs to the one whose
// key is the longest prefix of its key.
type menuPlace struct {
	store.Permission
	Parent string `json:"parent"`
}

// Pages returns the paths of the pages that the console has, for store.Options.
func (s *Seed) Pages() (map[string]bool, error) {
	_, places, err := s.load()
	paths := map[string]bool{}
	for _, p := range places {
		if p.Type == store.PagePermission {
			paths[p.Path] = true
		}
	}
	return paths, err
}

// Create fills a new database, in the transaction that creates it.
func (s *Seed) Create(tx *store.Tx) error {
	if err := s.Upgrade(tx); err != nil {
		return err
	}

	words, _, err := s.load()
	if err != nil {
		return err
	}

	owner := &store.Role{
		Name:         words.OwnerRole.Name,
		Description:  words.OwnerRole.Description,
		Status:       true,
		DataScope:    "all",
		DeptIDs:      []store.ID{},
		GrantRoleIDs: []store.ID{},
		RuleIDs:      []store.ID{},
	}
	if err := store.Roles.Create(tx, owner); err != nil {
		return err
	}

	user := &store.User{
		Username: s.Username, Nickname: words.FirstUser.Nickname, Status: true,
		RoleIDs: []store.ID{owner.ID},
	}
	if err := store.Users.Create(tx, user); err != nil {
		return err
	}
	if owner.ID != store.OwnerRole || user.ID != auth.FirstUser {
		return fmt.Errorf("the first role has id %d and the first user %d", owner.ID, user.ID)
	}

	hash, err := auth.HashPassword(tx, s.Password, s.Cost)
	if err != nil {
		return err
	}

	return store.SetHash(tx, store.Account{ID: user.ID}, hash, s.MustChange, 0)
}

// mailPage is the permission of the page for mail. Databases of versions without mail do not have
// it in Install.Seeded.
const mailPage = "system.mail"

// Upgrade adds the permissions and built-in settings of this version that the database
// has never had. What an administrator has deleted stays deleted.
func (s *Seed) Upgrade(tx *store.Tx) error {
	words, places, err := s.load()
	if err != nil {
		return err
	}

	install, err := store.Installs.Get(tx, 1)
	if err != nil {
		return err
	}

	seeded := map[string]bool{}
	for _, key := range install.Seeded {
		seeded[key] = true
	}

	if !seeded[store.GroupPermissionParent] { // a new database, or one of a version without these permissions
		if err := store.FreeGroupPermissions(tx); err != nil {
			return err
		}
	}
	if !seeded[mailPage] { // likewise
		if err := store.FreeGroup(tx, store.MailHost.Group); err != nil {
			return err
		}
	}
	if err := addPermissions(tx, seeded, places); err != nil {
		return err
	}
	if err := store.AddBuiltins(tx, words.Groups, words.Settings); err != nil { // after the parent of the groups' permissions
		return err
	}
	if err := store.AddGroupPermissions(tx); err != nil {
		return err
	}

	_, err = store.Installs.Update(tx, 1, func(i *kv.Install) error {
		i.Seeded = slices.Sorted(maps.Keys(seeded))
		return nil
	})
	return err
}

// addPermissions adds the pages and actions that are not yet in seeded.
func addPermissions(tx *store.Tx, seeded map[string]bool, places []menuPlace) error {
	pages := map[string]bool{}
	for _, p := range places {
		pages[p.Key] = true
		p.Show, p.Status = true, true
		if err := addPermission(tx, seeded, p.Permission, p.Parent); err != nil {
			return err
		}
	}

	for _, p := range actions() {
		if err := addPermission(tx, seeded, p.Permission, pageOf(p.Key, pages)); err != nil {
			return err
		}
	}
	return nil
}

func pageOf(key string, pages map[string]bool) string {
	for !pages[key] && strings.Contains(key, ".") {
		key = key[:strings.LastIndex(key, ".")]
	}
	return key
}

// addPermission adds one permission below its parent, or at the top level if the parent
// has been deleted.
func addPermission(tx *store.Tx, seeded map[string]bool, p store.Permission, parent string) error {
	if seeded[p.Key] {
		return nil
	}
	seeded[p.Key] = true
	if _, err := store.PermissionByKey.Get(tx, p.Key); !errs.Is(err, errs.NotFound) {
		return err // nil if an administrator has already created one with this key
	}
	above, err := store.PermissionByKey.Get(tx, parent)
	if err == nil {
		p.ParentID = above.ID
	} else if !errs.Is(err, errs.NotFound) {
		return err
	}
	return store.Permissions.Create(tx, &p)
}

func (s *Seed) load() (words names, places []menuPlace, err error) {
	for file, into := range map[string]any{"names.json": &words, "permissions.json": &places} {
		b, readErr := fs.ReadFile(s.Files, file)
		if readErr == nil {
			readErr = json.Unmarshal(b, into)
		}
		if readErr != nil {
			err = errors.Join(err, fmt.Errorf("seed file %s: %w", file, readErr))
		}
	}
	return words, places, err
}

// action is a permission for operations.
type action struct {
	store.Permission
	confirmed bool   // whether an operation requires a recent proof
	keyAccess string // key of the permission that API keys need instead; "" for the same
}

// actions returns the permissions that the program checks. It makes the table of routes only once,
// since that is a good part of a start.
var actions = sync.OnceValue(func() []action {
	var all []action
	sort := int64(0)
	add := func(key, title string) *action {
		all = append(all, action{Permission: store.Permission{
			Type:   store.ActionPermission,
			Key:    key,
			Name:   title,
			Sort:   sort * 10,
			Show:   true,
			Status: true,
		}})
		return &all[len(all)-1]
	}

	for _, rt := range Routes() {
		sort++
		if !rt.Open() {
			a := add(rt.Access, rt.Title)
			a.confirmed, a.keyAccess = rt.Confirmed || rt.Proves, rt.KeyAccess
		}
	}
	for _, p := range web.FurtherPermissions {
		sort++
		add(p.Key, p.Title).confirmed = true
	}
	return all
})

// Keys returns the permission keys that the program checks.
func Keys() map[string]bool {
	keys := map[string]bool{}
	for _, a := range actions() {
		keys[a.Key] = true
	}
	return keys
}

// ConfirmedKeys returns the keys of the permissions for operations that require a recent proof.
func ConfirmedKeys() map[string]bool {
	keys := map[string]bool{}
	for _, a := range actions() {
		if a.confirmed {
			keys[a.Key] = true
			if a.keyAccess != "" {
				keys[a.keyAccess] = true
			}
		}
	}
	return keys
}
