package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"reeve/store/errs"
	"reeve/store/kv"
)

// withdrawn are rights that a restored state has, and that were withdrawn since.
type withdrawn struct {
	People []withdrawnPerson `json:"people,omitempty"`

	// IDs of records that are deleted.
	Hashes, Authenticators, Recovery, Passkeys, Identities, Keys, Secrets []ID

	NewHashes   []PasswordHash  `json:",omitempty"` // passwords that were changed since, with the IDs of the restored ones
	NewTOTPs    []TOTP          `json:",omitempty"` // factors of people who have replaced theirs
	NewPasskeys []Passkey       `json:",omitempty"`
	NewSets     []RecoveryCodes `json:",omitempty"`
	NewRecovery []RecoveryCodes `json:",omitempty"` // those of which some were used since
	NewSecrets  []KeySecret     `json:",omitempty"` // secrets of keys that were rotated since
	Disabled    []ID            `json:",omitempty"` // API keys that were disabled
	Losers      []ID            `json:",omitempty"` // users who lose a factor

	Providers []withdrawnProvider `json:",omitempty"`
	Narrowed  []narrowedKey       `json:",omitempty"` // API keys that were restricted
}

// withdrawnPerson is what a user loses.
type withdrawnPerson struct {
	App     bool
	ID      ID
	Disable bool `json:",omitempty"`
	Roles   []ID `json:",omitempty"`
}

// withdrawnSince compares the rights of people and keys in a restored state with those in the later
// state that it replaces.
func withdrawnSince(replaced, restored *Tx) (json.RawMessage, []string, error) {
	c := &comparison{replaced: replaced, restored: restored, losers: map[Account]bool{}}
	err := errors.Join(c.users(), c.credentials(), c.newFactors(), c.providers(), c.keys())
	if err != nil || len(c.titles) == 0 {
		return nil, nil, err
	}
	text, err := json.Marshal(c.found)
	return text, c.titles, err
}

// comparison compares two states.
type comparison struct {
	replaced, restored *Tx
	found              withdrawn
	titles             []string
	losers             map[Account]bool // people who lose a factor
}

func (c *comparison) say(format string, args ...any) {
	c.titles = append(c.titles, fmt.Sprintf(format, args...))
}

// each calls fn with the records of a restored collection, and the later ones; nil for those that were
// deleted since.
func each[T any](c *comparison, all *kv.Collection[T], idOf func(*T) ID, fn func(restored, replaced *T)) error {
	for v, err := range all.All(c.restored) {
		if err != nil {
			return err
		}
		later, err := all.Get(c.replaced, idOf(v))
		if err := ignoreMissing(err); err != nil {
			return err
		}
		if err != nil {
			later = nil
		}
		fn(v, later)
	}
	return nil
}

// users compares users and app users. An owner stays one if there would be none otherwise.
func (c *comparison) users() error {
	owners := 0
	var people []withdrawnPerson
	err := each(c, Users, func(u *User) ID { return u.ID }, func(u, later *User) {
		p := withdrawnPerson{ID: u.ID, Disable: bool(u.Status) && (later == nil || !bool(later.Status))}
		if later != nil {
			p.Roles = without(u.RoleIDs, later.RoleIDs)
		}
		if bool(u.Status) && slices.Contains(u.RoleIDs, OwnerRole) && !p.Disable && !slices.Contains(p.Roles, OwnerRole) {
			owners++
		}
		if p.Disable || len(p.Roles) > 0 {
			people = append(people, p)
		}
	})
	if err != nil {
		return err
	}
	for _, p := range people {
		u, err := Users.Get(c.restored, p.ID)
		if err != nil {
			return err
		}
		if owners == 0 && slices.Contains(u.RoleIDs, OwnerRole) {
			c.say("user %s was an owner until the restored moment and stays one, as there is no other", u.Username)
			owners++
			continue
		}
		c.person(p, u.Username)
	}
	return c.appUsers()
}

func (c *comparison) appUsers() error {
	return each(c, AppUsers, func(u *AppUser) ID { return u.ID }, func(u, later *AppUser) {
		p := withdrawnPerson{App: true, ID: u.ID, Disable: bool(u.Status) && (later == nil || !bool(later.Status))}
		if later != nil {
			p.Roles = without(u.RoleIDs, later.RoleIDs)
		}
		if p.Disable || len(p.Roles) > 0 {
			c.person(p, u.Username)
		}
	})
}

func without(ids, others []ID) []ID {
	return slices.DeleteFunc(slices.Clone(ids), func(id ID) bool { return slices.Contains(others, id) })
}

// person adds what a person loses.
func (c *comparison) person(p withdrawnPerson, username string) {
	c.found.People = append(c.found.People, p)
	who := kindOf(p.App) + " " + username
	if p.Disable {
		c.say("%s: it was disabled or deleted", who)
	}
	for _, id := range p.Roles {
		c.say("%s: role %s", who, c.role(p.App, id))
	}
}

func kindOf(app bool) string { return ByRealm(app, "user", "app user") }

// role returns the name of a role.
func (c *comparison) role(app bool, id ID) string {
	if app {
		if r, err := AppRoles.Get(c.restored, id); err == nil {
			return r.Name
		}
	} else if r, err := Roles.Get(c.restored, id); err == nil {
		return r.Name
	}
	return id.String()
}

// credentials compares passwords and factors: people keep those that they have had last.
func (c *comparison) credentials() error {
	return errors.Join(
		each(c, PasswordHashes, func(h *PasswordHash) ID { return h.ID }, func(h, later *PasswordHash) {
			switch {
			case c.gone(h.UserID, h.AppUserID):
				return
			case later == nil:
				c.found.Hashes = append(c.found.Hashes, h.ID)
			case later.Hash != h.Hash:
				c.found.NewHashes = append(c.found.NewHashes, *later)
			default:
				return
			}
			c.of(h.UserID, h.AppUserID, "password")
		}),
		each(c, TOTPs, func(t *TOTP) ID { return t.ID }, func(t, later *TOTP) {
			if later == nil && !c.gone(t.UserID, t.AppUserID) { // a new app is a new record
				c.found.Authenticators = append(c.found.Authenticators, t.ID)
				c.losers[accountOf(t.UserID, t.AppUserID)] = true
				c.of(t.UserID, t.AppUserID, "authenticator app")
			}
		}),
		each(c, RecoverySets, func(r *RecoveryCodes) ID { return r.ID }, func(r, later *RecoveryCodes) {
			switch {
			case c.gone(r.UserID, r.AppUserID):
				return
			case later == nil:
				c.found.Recovery = append(c.found.Recovery, r.ID)
				c.losers[accountOf(r.UserID, r.AppUserID)] = true
			case !slices.Equal(r.Hashes, later.Hashes):
				c.found.NewRecovery = append(c.found.NewRecovery, *later)
			default:
				return
			}
			c.of(r.UserID, r.AppUserID, "recovery codes")
		}),
		each(c, Passkeys, func(p *Passkey) ID { return p.ID }, func(p, later *Passkey) {
			if later == nil && !c.gone(p.UserID, p.AppUserID) {
				c.found.Passkeys = append(c.found.Passkeys, p.ID)
				c.losers[p.Account()] = true
				c.of(p.UserID, p.AppUserID, "passkey "+p.Name)
			}
		}))
}

// newFactors adds the factors that people have who lose one: who has replaced a factor keeps the new one.
func (c *comparison) newFactors() error {
	for v, err := range TOTPs.All(c.replaced) {
		if err != nil {
			return err
		}
		if c.losers[v.Account()] && !TOTPs.Exists(c.restored, v.ID) {
			c.found.NewTOTPs = append(c.found.NewTOTPs, *v)
		}
	}
	for v, err := range Passkeys.All(c.replaced) {
		if err != nil {
			return err
		}
		if c.losers[v.Account()] && !Passkeys.Exists(c.restored, v.ID) {
			c.found.NewPasskeys = append(c.found.NewPasskeys, *v)
		}
	}
	for v, err := range RecoverySets.All(c.replaced) {
		if err != nil {
			return err
		}
		if c.losers[accountOf(v.UserID, v.AppUserID)] && !RecoverySets.Exists(c.restored, v.ID) {
			c.found.NewSets = append(c.found.NewSets, *v)
		}
	}
	for who := range c.losers {
		if !who.App {
			c.found.Losers = append(c.found.Losers, who.ID)
		}
	}
	slices.Sort(c.found.Losers)
	return nil
}

// gone reports whether a person was deleted since, who is disabled.
func (c *comparison) gone(user, appUser ID) bool { return !accountOf(user, appUser).exists(c.replaced) }

// of says what a person loses.
func (c *comparison) of(user, appUser ID, what string) {
	who := accountOf(user, appUser)
	c.say("%s %s: %s", kindOf(who.App), who.nameOr(c.restored), what)
}

// existing returns the IDs of records that a state has.
func existing[T any](tx *Tx, all *kv.Collection[T], ids []ID) []ID {
	return slices.DeleteFunc(slices.Clone(ids), func(id ID) bool { return !all.Exists(tx, id) })
}

// withdraw withdraws in a restored database what withdrawnSince has found, and returns how much.
func withdraw(tx *Tx, rights json.RawMessage) (n int, err error) {
	var w withdrawn
	if err := json.Unmarshal(rights, &w); err != nil {
		return 0, err
	}
	for _, p := range w.People {
		if err := p.withdraw(tx); err != nil {
			return n, err
		}
	}
	err = errors.Join(
		deleteAll(tx, PasswordHashes, w.Hashes), deleteAll(tx, TOTPs, w.Authenticators), deleteAll(tx, RecoverySets, w.Recovery),
		deleteAll(tx, Passkeys, w.Passkeys), deleteAll(tx, Identities, w.Identities),
		deleteAll(tx, APIKeys, w.Keys), deleteAll(tx, KeySecrets, w.Secrets))
	for _, p := range w.Providers {
		err = errors.Join(err, p.withdraw(tx))
	}
	for _, h := range w.NewHashes {
		err = errors.Join(err, quietly(tx, PasswordHashes, h.ID, func(old *PasswordHash) { old.Hash, old.Earlier = h.Hash, h.Earlier }))
	}
	for _, r := range w.NewRecovery {
		err = errors.Join(err, quietly(tx, RecoverySets, r.ID, func(old *RecoveryCodes) { old.Hashes = r.Hashes }))
	}
	for _, t := range w.NewTOTPs {
		t.Ident = Ident{}
		err = errors.Join(err, TOTPs.Create(tx, &t))
	}
	for _, p := range w.NewPasskeys {
		p.Ident = Ident{}
		err = errors.Join(err, Passkeys.Create(tx, &p))
	}
	for _, r := range w.NewSets {
		r.Ident = Ident{}
		err = errors.Join(err, RecoverySets.Create(tx, &r))
	}
	for _, id := range w.Losers {
		err = errors.Join(err, followFactor(tx, Account{ID: id}))
	}
	for _, s := range w.NewSecrets {
		err = errors.Join(err, KeySecrets.Create(tx, &KeySecret{KeyID: s.KeyID, Hash: s.Hash, Hint: s.Hint, ExpiresAt: s.ExpiresAt}))
	}
	for _, id := range w.Disabled {
		err = errors.Join(err, quietly(tx, APIKeys, id, func(k *APIKey) { k.Status = false }))
	}
	for _, k := range w.Narrowed {
		err = errors.Join(err, k.withdraw(tx))
	}
	n = len(w.People) + len(w.Hashes) + len(w.Authenticators) + len(w.Recovery) + len(w.Passkeys) + len(w.Identities) +
		len(w.Providers) + len(w.Keys) + len(w.Secrets) + len(w.NewHashes) + len(w.NewRecovery) + len(w.Disabled) + len(w.Narrowed)
	return n, err
}

func (p *withdrawnPerson) withdraw(tx *Tx) error {
	if p.App {
		return quietly(tx, AppUsers, p.ID, func(u *AppUser) {
			u.Status, u.RoleIDs = u.Status && !Flag(p.Disable), without(u.RoleIDs, p.Roles)
		})
	}
	return quietly(tx, Users, p.ID, func(u *User) {
		u.Status, u.RoleIDs = u.Status && !Flag(p.Disable), without(u.RoleIDs, p.Roles)
	})
}

func quietly[T any](tx *Tx, all *kv.Collection[T], id ID, edit func(*T)) error {
	_, err := all.UpdateQuietly(tx, id, func(v *T) error {
		edit(v)
		return nil
	})
	return err
}

func deleteAll[T any](tx *Tx, all *kv.Collection[T], ids []ID) error {
	for _, id := range ids {
		if err := all.Delete(tx, id); err != nil && !errs.Is(err, errs.NotFound) {
			return err
		}
	}
	return nil
}
