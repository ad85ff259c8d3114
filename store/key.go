package store

import (
	"net/netip"
	"slices"
	"time"

	"reeve/store/errs"
	"reeve/store/kv"
)

// APIKey is a credential of a program. It acts for a user, its owner: a service key has the
// permissions of its own roles as far as its owner may grant them, a personal key those of its
// owner.
type APIKey struct {
	Ident
	Name      string   `json:"name" visible:"name"`
	UserID    ID       `json:"user_id"`    // the owner
	Personal  Flag     `json:"personal"`   // 1 for a personal key; never changes
	RoleIDs   []ID     `json:"role_ids"`   // personal key: some of the owner's roles; empty for all
	DataScope string   `json:"data_scope"` // narrows the data scope of the roles; "" for no narrowing
	DeptIDs   []ID     `json:"dept_ids"`   // departments of the data scope custom
	Networks  []string `json:"networks"`   // addresses and prefixes that it may be used from; empty for all
	Rate      int64    `json:"rate_limit"` // requests per minute; 0 for the setting security.key_rate_limit
	Status    Flag     `json:"status"`
	Paused    string   `json:"paused"` // KeyRestored until an owner resumes it; "" otherwise
	ExpiresAt Time     `json:"expires_at"`
	LastUsed  Time     `json:"last_used" log:"-"` // written at most once a minute; 0 for never
	LastIP    string   `json:"last_ip" log:"-"`
	Versioned
}

// KeyRestored is why a key is paused: a backup was restored, in which it may be one that was
// deleted since.
const KeyRestored = "restored"

// KeySecret is the secret of a key, as a SHA-256. It is a record of its own and not a part of the
// key, so that no route can return it. During a rotation, a key has two.
type KeySecret struct {
	Ident
	KeyID     ID     `json:"key_id"`
	Hash      string `json:"hash"`       // SHA-256 of the token, hexadecimal
	Hint      string `json:"hint"`       // first characters of the token, by which people recognize it
	ExpiresAt Time   `json:"expires_at"` // end of a rotation; 0 for as long as the key
	kv.Timestamps
}

// Limits of keys.
const (
	MaxKeys         = 1000 // service keys
	MaxPersonalKeys = 20   // of one user
	MaxKeyNetworks  = 20
	KeyDays         = 90 // until a key expires, unless its creator chooses a time
	KeyUnused       = 90 * 24 * time.Hour
)

// Keys, their secrets and indexes. A service key outlives its owner, so that another user can adopt
// it; a personal key does not.
var (
	APIKeys       = kv.NewCollection[APIKey]("key")
	KeyByUser     = refToUser(APIKeys, func(k *APIKey) ID { return k.UserID }, kv.Dangle)
	KeyByPersonal = kv.NewRef(APIKeys, "personal_user_id", Users, func(k *APIKey) ID {
		if !bool(k.Personal) {
			return 0
		}
		return k.UserID
	}, kv.CascadeFreely, "user_id", "personal")
	KeyByRole = kv.NewRefs(APIKeys, "role_ids", Roles, func(k *APIKey) []ID {
		return k.RoleIDs
	}, kv.Restrict)
	KeyByDept = kv.NewDetachingRefs(APIKeys, "dept_ids", Depts, func(k *APIKey) *[]ID {
		return &k.DeptIDs
	})
	KeyByKind = byFlag(APIKeys, "personal", func(k *APIKey) Flag { return k.Personal })
	KeySearch = kv.NewSearch(APIKeys, func(k *APIKey) []string { return []string{k.Name} })

	KeySecrets  = kv.NewCollection[KeySecret]("key_secret").Unlogged()
	KeyByHash   = kv.NewUnique(KeySecrets, "hash", func(s *KeySecret) string { return s.Hash })
	SecretByKey = kv.NewRef(KeySecrets, "key_id", APIKeys, func(s *KeySecret) ID {
		return s.KeyID
	}, kv.Cascade)

	_ = APIKeys.Authorize(authorizeKey).Constraint(constrainKey)
	_ = KeySecrets.Constraint(constrainKeySecret)
)

var _ = Manage(APIKeys, "admin.key")

// authorizeKey decides who may change a key: its owner, and users who could change the owner. No
// key changes keys.
func authorizeKey(tx *Tx, k *APIKey) error {
	actor := ActorOf(tx)
	switch {
	case actor.system:
		return nil
	case actor.Key != nil:
		return ErrKeyForbidden
	case k.UserID == actor.ID && !actor.App:
		return nil
	}

	owner, err := Users.Get(tx, k.UserID)
	switch {
	case errs.Is(err, errs.NotFound) && actor.isOwner():
		return nil
	case errs.Is(err, errs.NotFound) && actor.Scope(tx).All: // what a new owner gives to it is unknown
		return beyond(errs.Say("the owner of API key %d", k.ID), errs.Say("the owner role"))
	case err != nil || !actor.Scope(tx).HasUser(owner):
		return APIKeys.NotFound(k.ID)
	}

	return checkHolder(tx, errs.Say("the owner of API key %d", k.ID), owner.ID, owner.RoleIDs,
		owner.DeptID)
}

// ErrKeyForbidden rejects what only a person may do.
var ErrKeyForbidden = errs.New(errs.Denied, "API keys can't be used for this; sign in").Coded("key_not_allowed")

// constrainKey checks the new values of a key.
func constrainKey(tx *Tx, old, new *APIKey) error {
	actor := ActorOf(tx)
	switch {
	case new == nil:
		return nil
	case actor.Key != nil:
		return ErrKeyForbidden
	}

	new.RoleIDs, new.DeptIDs = Distinct(new.RoleIDs), Distinct(new.DeptIDs)
	if err := constrainKeyOwner(actor, old, new); err != nil {
		return err
	}
	if err := constrainKeyFields(tx, old, new); err != nil || actor.system {
		return err
	}
	if old == nil {
		if err := roomForKey(tx, new); err != nil {
			return err
		}
	}
	if bool(new.Personal) || old != nil && sameKeyRights(old, new) {
		return nil
	}

	return checkHolder(tx, errs.Say("API key %s", new.Name), actor.ID, new.RoleIDs, actor.DeptID)
}

// constrainKeyOwner makes only the actor an owner, and lets others do nothing to a personal key but
// disable or delete it: a user who sets its secret could act as its owner.
func constrainKeyOwner(actor *Actor, old, new *APIKey) error {
	if actor.system || actor.operator {
		return nil
	}

	owner := actor.isOwner()
	switch {
	case old == nil && new.UserID == actor.ID && !actor.App:
		return nil
	case old == nil:
		return errs.Field(errs.Denied, "user_id", "must be yourself")
	case old.Paused != new.Paused && !owner:
		return errs.New(errs.Denied, "only a user with the owner role can resume an API key").Coded("owner_required")
	case old.UserID != new.UserID && (bool(old.Personal) || !owner || new.UserID != actor.ID):
		return errs.New(errs.Denied,
			"only a user with the owner role can adopt an API key, and a personal one can't be adopted").Coded("owner_required")
	case bool(old.Personal) && old.UserID != actor.ID && !sameButStatus(old, new):
		return errs.New(errs.Denied,
			"a personal API key can only be disabled or deleted by others").Coded("personal_key")
	}

	return nil
}

// sameButStatus reports whether nothing but the status and the pause of a key changes, and it is
// not enabled.
func sameButStatus(old, new *APIKey) bool {
	return old.Name == new.Name && sameKeyRights(old, new) &&
		slices.Equal(old.Networks, new.Networks) && old.Rate == new.Rate &&
		old.ExpiresAt == new.ExpiresAt && (bool(old.Status) || !bool(new.Status))
}

// sameKeyRights reports whether two states of a key have the same owner, roles and data scope.
func sameKeyRights(a, b *APIKey) bool {
	return a.UserID == b.UserID && slices.Equal(a.RoleIDs, b.RoleIDs) &&
		a.DataScope == b.DataScope && slices.Equal(a.DeptIDs, b.DeptIDs)
}

// constrainKeyFields checks values of a key that are wrong for everybody.
func constrainKeyFields(tx *Tx, old, new *APIKey) error {
	faults := errs.Faults{}
	for i, text := range new.Networks {
		prefix, err := ParseNetwork(text)
		if err != nil {
			faults.Add("networks",
				"contains %q, which is no IP address or network, such as 192.0.2.7 or 10.0.0.0/8",
				text)
			continue
		}
		new.Networks[i] = prefix
	}

	if len(new.Networks) > MaxKeyNetworks {
		faults.Add("networks", "must be at most %d addresses or networks", MaxKeyNetworks)
	}
	if new.DataScope != ScopeCustom && len(new.DeptIDs) > 0 {
		faults.Add("dept_ids", "are allowed only with the data scope custom")
	}
	if !bool(new.Personal) && slices.Contains(new.RoleIDs, OwnerRole) {
		faults.Add("role_ids", "must not contain the owner role: no API key has it")
	}

	for _, id := range new.DeptIDs {
		if old != nil && slices.Contains(old.DeptIDs, id) {
			continue
		}
		if !Depts.Exists(tx, id) || !ActorOf(tx).Scope(tx).HasDept(id) {
			faults.Add("dept_ids", "%s %d not found", errs.Noun(Depts.Noun()), id)
		}
	}

	if old == nil || old.ExpiresAt != new.ExpiresAt {
		most := KeyMaxDays.Get(tx)
		switch {
		case new.ExpiresAt <= tx.Now():
			faults.Add("expires_at", "must be in the future")
		case new.ExpiresAt > tx.Now().Add(time.Duration(most)*24*time.Hour):
			faults.Add("expires_at",
				"must be within %d days; see the setting security.key_max_days", most)
		}
	}
	if bool(new.Personal) && (old == nil || !slices.Equal(old.RoleIDs, new.RoleIDs)) {
		for _, id := range new.RoleIDs {
			if !slices.Contains(ActorOf(tx).RoleIDs, id) && !ActorOf(tx).system {
				faults.Add("role_ids", "%s %d not found", errs.Noun(Roles.Noun()), id)
			}
		}
	}

	return faults.Err(errs.Invalid)
}

// ParseNetwork returns the canonical form of an IP address or a network in CIDR notation. An IPv4
// address in IPv6 form becomes IPv4.
func ParseNetwork(text string) (string, error) {
	if addr, err := netip.ParseAddr(text); err == nil {
		return addr.Unmap().WithZone("").String(), nil
	}
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		return "", err
	}
	if prefix.Addr().Is4In6() {
		if prefix.Bits() < 96 {
			return "", errs.New(errs.Invalid, "unknown")
		}
		prefix = netip.PrefixFrom(prefix.Addr().Unmap(), prefix.Bits()-96)
	}
	return prefix.Masked().String(), nil
}

// roomForKey limits the number of service keys, and of personal keys of each user, so that personal
// keys do not use up the room of others.
func roomForKey(tx *Tx, k *APIKey) error {
	if !bool(k.Personal) {
		n, err := KeyByKind.Count(tx, flagText(false))
		if err == nil && n >= MaxKeys {
			err = errs.New(errs.Conflict, "there are already %d API keys, which is the maximum",
				MaxKeys).Coded("too_many_keys")
		}
		return err
	}

	own, err := KeyByPersonal.Count(tx, k.UserID)
	switch {
	case err != nil:
		return err
	case !PersonalKeys.Get(tx):
		return errs.New(errs.Denied,
			"personal API keys are turned off; see the setting security.personal_keys").Coded("personal_keys_off")
	case own >= MaxPersonalKeys:
		return errs.New(errs.Conflict, "you already have %d API keys, which is the maximum",
			MaxPersonalKeys).Coded("too_many_keys")
	}

	return nil
}

// constrainKeySecret requires that the actor may change the key to set its secret, and is the owner
// of a personal key.
func constrainKeySecret(tx *Tx, old, new *KeySecret) error {
	actor := ActorOf(tx)
	if new == nil || actor.system {
		return nil
	}
	k, err := APIKeys.Get(tx, new.KeyID)
	if err == nil {
		err = authorizeKey(tx, k)
	}
	if err == nil && bool(k.Personal) && k.UserID != actor.ID && !actor.operator {
		err = errs.New(errs.Denied, "a personal API key can only be disabled or deleted by others").Coded("personal_key")
	}
	return err
}

// CreateKey creates a key of the actor with a secret.
func CreateKey(tx *Tx, k *APIKey, hash, hint string) (err error) {
	if k.UserID, err = OwnerFor(tx); err != nil {
		return err
	}
	if k.ExpiresAt == 0 {
		k.ExpiresAt = tx.Now().Add(time.Duration(min(KeyDays, KeyMaxDays.Get(tx))) * 24 * time.Hour)
	}
	if err := APIKeys.Create(tx, k); err != nil {
		return err
	}
	return KeySecrets.Create(tx, &KeySecret{KeyID: k.ID, Hash: hash, Hint: hint})
}

// RotateKeySecret gives a key a new secret. The one before remains valid until a time; 0 ends it at
// once. One that was before that ends at once.
func RotateKeySecret(tx *Tx, key ID, hash, hint string, until Time) error {
	all, err := KeySecretsOf(tx, key)
	if err != nil {
		return err
	}

	for i, s := range all {
		if i == len(all)-1 && until != 0 {
			_, err = KeySecrets.Update(tx, s.ID, func(s *KeySecret) error {
				s.ExpiresAt = until
				return nil
			})
		} else {
			err = KeySecrets.Delete(tx, s.ID)
		}
		if err != nil {
			return err
		}
	}

	return KeySecrets.Create(tx, &KeySecret{KeyID: key, Hash: hash, Hint: hint})
}

// KeySecretsOf returns the secrets of a key, the current one last.
func KeySecretsOf(tx *Tx, key ID) (all []*KeySecret, err error) {
	for s, err := range SecretByKey.All(tx, key) {
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// pauseKeys pauses all keys until an owner resumes them: in a restored backup, there may be some
// that were deleted since.
func pauseKeys(tx *Tx) error {
	var ids []ID
	for k, err := range APIKeys.All(tx) {
		if err != nil {
			return err
		}
		if k.Paused == "" {
			ids = append(ids, k.ID)
		}
	}

	for _, id := range ids {
		if _, err := APIKeys.UpdateQuietly(tx, id, func(k *APIKey) error {
			k.Paused = KeyRestored
			return nil
		}); err != nil {
			return err
		}
	}

	return nil
}
