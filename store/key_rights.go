package store

import (
	"maps"
	"math"
	"slices"
	"time"

	"reeve/store/errs"
)

// UnattendedBackup is the permission to download backups without a person. Only an owner can give
// it to a service key.
const UnattendedBackup = "system.backup.unattended"

// notForKeys are the permissions that no API key has, because only a person may use what they
// allow: it would give the key the rights of its owner, or another key, or it requires a recent
// proof. A key downloads backups with UnattendedBackup.
var notForKeys = map[string]bool{
	"admin.key.create": true, "admin.key.update": true, "admin.key.delete": true,
	"admin.key.rotate":     true,
	"system.security.save": true, "system.webhook.create": true, "system.webhook.update": true,
	"system.webhook.secret": true, "system.backup": true,
	"admin.list.act_as": true, "admin.list.act_as_write": true, "user.list.factor": true,
	"admin.list.factor": true, "admin.list.password": true, "admin.list.erase": true,
	"user.list.password": true, "user.list.erase": true, "system.setup.query": true,
	"system.setup.apply": true, "system.provider.create": true, "system.provider.update": true,
	"system.provider.delete": true, ViewSharing: true,
}

// ForKeys reports whether an API key can have a permission.
func ForKeys(permission string) bool { return !notForKeys[permission] }

// KeyLimit is the limit of an actor that is an API key, besides its roles.
type KeyLimit struct {
	ID       ID
	Name     string
	Personal bool

	owner     []ID // roles of the owner
	dataScope string
	depts     []ID
}

// KeyActor returns the actor of a key. The error is ErrSessionEnded if the key can't be used: it is
// disabled or paused or has expired, or its owner was disabled or deleted.
func KeyActor(tx *Tx, k *APIKey) (*Actor, error) {
	owner, err := Users.Get(tx, k.UserID)
	if err != nil {
		return nil, endedIfNone(err)
	}
	if k.Unusable(tx, owner) != "" {
		return nil, ErrSessionEnded
	}
	return keyActor(k, owner), nil
}

// Unusable returns why a key can't be used: key_disabled, personal_keys_off, no_owner,
// user_disabled (the owner), key_paused, key_expired or sign_in_due; "" if it can. owner is nil if it
// was deleted.
func (k *APIKey) Unusable(tx *Tx, owner *User) string {
	switch {
	case !bool(k.Status):
		return "key_disabled"
	case bool(k.Personal) && !PersonalKeys.Get(tx):
		return "personal_keys_off"
	case owner == nil:
		return "no_owner"
	case !bool(owner.Status):
		return "user_disabled"
	case k.Paused != "":
		return "key_paused"
	case tx.Now() >= k.ExpiresAt:
		return "key_expired"
	case tx.Now() >= k.SignInDue(tx):
		return "sign_in_due"
	}
	return ""
}

// SignInDue returns until when the owner of a personal key has to sign in with a provider, without
// which the key can't be used: a person who was removed there has no other way in. It is the end of
// time for users with a password or without a provider.
func (k *APIKey) SignInDue(tx *Tx) Time {
	const never = Time(math.MaxInt64)
	days := ProviderKeyDays.Get(tx)
	if !k.Personal || days == 0 {
		return never
	}
	who := Account{ID: k.UserID}
	list, err := IdentitiesOf(tx, who)
	if err == nil && len(list) == 0 {
		return never
	}
	hash, e := SignInHash(tx, who)
	if err != nil || e != nil {
		return 0 // damaged: rather no access than that of a person who has left
	}
	if hash != "" {
		return never
	}
	last := Time(0)
	for _, i := range list {
		last = max(last, i.LastLogin)
	}
	return last.Add(time.Duration(days) * 24 * time.Hour)
}

func keyActor(k *APIKey, owner *User) *Actor {
	limit := &KeyLimit{
		ID:        k.ID,
		Name:      k.Name,
		Personal:  bool(k.Personal),
		owner:     owner.RoleIDs,
		dataScope: k.DataScope,
		depts:     k.DeptIDs,
	}
	a := &Actor{
		ID:       owner.ID,
		Username: owner.Username,
		RoleIDs:  k.RoleIDs,
		DeptID:   owner.DeptID,
		Key:      limit,
	}
	if limit.Personal {
		a.MustChange = bool(owner.MustChangePassword)
		if len(k.RoleIDs) == 0 {
			a.RoleIDs = owner.RoleIDs
		}
	}

	return a
}

// currentKey returns the actor of a key when a write function is about to run.
func currentKey(tx *Tx, a *Actor) (*Actor, error) {
	k, err := APIKeys.Get(tx, a.Key.ID)
	if err != nil {
		return nil, endedIfNone(err)
	}
	now, err := KeyActor(tx, k)
	if err != nil {
		return nil, err
	}
	if a.sameKey(now) {
		return a, nil
	}
	return now, nil
}

// sameKey reports whether two actors of the same key have the same rights.
func (a *Actor) sameKey(b *Actor) bool {
	k, l := a.Key, b.Key
	return a.ID == b.ID && a.DeptID == b.DeptID && a.MustChange == b.MustChange &&
		slices.Equal(a.RoleIDs, b.RoleIDs) &&
		slices.Equal(k.owner, l.owner) && k.dataScope == l.dataScope &&
		slices.Equal(k.depts, l.depts)
}

// isOwner reports whether the actor is a person with the owner role.
func (a *Actor) isOwner() bool {
	return a.system ||
		!a.App && a.Key == nil && a.By == nil && slices.Contains(a.RoleIDs, OwnerRole)
}

// keysOfKey returns the keys of the permissions of an API key. A personal key has those that its
// owner has, too; a service key those that its owner may grant.
func (r *Policy) keysOfKey(a *Actor) map[string]bool {
	keys := map[string]bool{}
	if a.Key.Personal {
		own := r.keysOfRoles(a.Key.owner)
		for key := range r.keysOfRoles(a.RoleIDs) {
			if own[key] && key != UnattendedBackup && !notForKeys[key] {
				keys[key] = true
			}
		}
		return keys
	}

	limit := r.ceilingOf(a.ID, r.EnabledRoles(a.Key.owner), a.DeptID, true)
	for _, id := range r.EnabledRoles(a.RoleIDs) {
		for _, id := range r.roles.Get(id).RuleIDs {
			p := r.permissions.Get(id)
			if p != nil && r.enabled(id) && limit.mayGive(p) && !notForKeys[p.Key] {
				keys[p.Key] = true
			}
		}
	}

	return keys
}

// mayGive reports whether an owner with this ceiling may give a permission to a key.
func (c *ceiling) mayGive(p *Permission) bool {
	return c.all || c.grants[p.ID] && p.Key != UnattendedBackup
}

// scopeOfKey returns the data scope of an API key: that of its roles, within that of its owner and
// the key's own.
func (r *Policy) scopeOfKey(a *Actor) *Scope {
	limit := &ceiling{}
	if a.Key.Personal {
		limit.scope = r.scopeOf(a.ID, a.Key.owner, a.DeptID)
	} else {
		limit = r.ceilingOf(a.ID, r.EnabledRoles(a.Key.owner), a.DeptID, true)
	}
	scope := r.scopeOf(a.ID, a.RoleIDs, a.DeptID).and(limit.scope)
	if a.Key.dataScope != "" {
		own := &Scope{Self: a.ID, Depts: map[ID]bool{}}
		r.addScope(own, &Role{DataScope: a.Key.dataScope, DeptIDs: a.Key.depts}, a.DeptID)
		scope = scope.and(own)
	}
	return scope
}

// and returns the intersection of two scopes of the same actor.
func (s *Scope) and(other *Scope) *Scope {
	switch {
	case s.All:
		return other
	case other.All:
		return s
	}
	both := &Scope{Self: s.Self, Depts: maps.Clone(s.Depts)}
	maps.DeleteFunc(both.Depts, func(id ID, _ bool) bool { return !other.Depts[id] })
	return both
}

// ceilingOfKey returns the rights that an API key may grant to others: its own. It never amounts to
// the owner role, even if its owner has it.
func (r *Policy) ceilingOfKey(a *Actor) *ceiling {
	keys, c := r.keysOfKey(a), &ceiling{grants: map[ID]bool{}, scope: r.scopeOfKey(a)}
	for id, p := range r.permissions.All() {
		if keys[p.Key] {
			c.grants[id] = true
		}
	}
	return c
}

// ExplainKey explains why an API key has or does not have a permission.
func ExplainKey(tx *Tx, k *APIKey, key string) (*Explanation, error) {
	owner, err := Users.Get(tx, k.UserID)
	if errs.Is(err, errs.NotFound) {
		return noAccess("no_owner"), nil
	}
	if err != nil {
		return nil, err
	}

	rules, a := PolicyCache.Get(tx), keyActor(k, owner)
	e := rules.explain(&User{
		Ident:   owner.Ident,
		RoleIDs: a.RoleIDs,
		DeptID:  owner.DeptID,
		Status:  true,
	}, key)
	e.Limited = Flag(!rules.scopeOfKey(a).All)
	e.Allowed = e.Allowed && rules.keysOfKey(a)[key]
	switch why := k.Unusable(tx, owner); {
	case why != "":
		e.Allowed, e.Reason = false, why
	case !e.Allowed && notForKeys[key] && e.Reason != "unknown_permission":
		e.Reason = "not_for_keys"
	case !e.Allowed && (e.Reason == "granted" || e.Reason == "owner"):
		e.Reason = "beyond_owner"
	}

	return e, nil
}
