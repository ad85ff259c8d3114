package store

import (
	"errors"
	"net/netip"
	"slices"
	"time"
)

// narrowedKey is an API key that was restricted since, and the rights that it keeps.
type narrowedKey struct {
	ID        ID
	RoleIDs   []ID
	DataScope string
	DeptIDs   []ID
	Networks  []string
	ExpiresAt Time
	Disable   bool `json:",omitempty"` // whether the key has no role or no network left
}

// keys compares API keys.
func (c *comparison) keys() error {
	return errors.Join(
		each(c, APIKeys, func(k *APIKey) ID { return k.ID }, func(k, later *APIKey) {
			switch {
			case later == nil:
				c.found.Keys = append(c.found.Keys, k.ID)
				c.say("API key %s: it was deleted", k.Name)
			case bool(k.Status) && !bool(later.Status):
				c.found.Disabled = append(c.found.Disabled, k.ID)
				c.say("API key %s: it was disabled", k.Name)
			}
			if later != nil {
				c.narrow(k, later)
			}
		}),
		each(c, KeySecrets, func(s *KeySecret) ID { return s.ID }, func(s, later *KeySecret) {
			if (later == nil || later.ExpiresAt != s.ExpiresAt) && !slices.Contains(c.found.Keys, s.KeyID) {
				c.found.Secrets = append(c.found.Secrets, s.ID)
				c.say("API key %d: the token that begins with %s", s.KeyID, s.Hint)
			}
		}),
		c.newSecrets())
}

// newSecrets adds the secrets that replace those that are deleted.
func (c *comparison) newSecrets() error {
	for _, id := range c.found.Secrets {
		s, err := KeySecrets.Get(c.restored, id)
		if err != nil {
			return err
		}
		later, err := KeySecretsOf(c.replaced, s.KeyID)
		if err != nil {
			return err
		}
		for _, s := range later {
			known := func(n KeySecret) bool { return n.Hash == s.Hash }
			stays := KeySecrets.Exists(c.restored, s.ID) && !slices.Contains(c.found.Secrets, s.ID)
			if !stays && !slices.ContainsFunc(c.found.NewSecrets, known) {
				c.found.NewSecrets = append(c.found.NewSecrets, *s)
			}
		}
	}
	return nil
}

// narrow restricts a key as it was since, field by field: it has what both states allow. One to which that leaves no
// role or network is disabled and keeps the list, since an empty one allows all.
func (c *comparison) narrow(k, later *APIKey) {
	left := narrowedKey{ID: k.ID, ExpiresAt: min(k.ExpiresAt, later.ExpiresAt)}
	left.RoleIDs = c.rolesLeft(k, later)
	left.DataScope, left.DeptIDs = c.scopeLeft(k, later)
	left.Networks = networksLeft(k.Networks, later.Networks)
	noRole := bool(k.Personal) && len(left.RoleIDs) == 0 && len(later.RoleIDs) > 0
	noNetwork := len(left.Networks) == 0 && len(later.Networks) > 0

	n := len(c.titles)
	if noRole || !slices.Equal(left.RoleIDs, k.RoleIDs) {
		c.say("API key %s: roles", k.Name)
	}
	if left.DataScope != k.DataScope || !slices.Equal(left.DeptIDs, k.DeptIDs) {
		c.say("API key %s: data scope", k.Name)
	}
	if noNetwork || !slices.Equal(left.Networks, k.Networks) {
		c.say("API key %s: networks", k.Name)
	}
	if left.ExpiresAt != k.ExpiresAt {
		c.say("API key %s: it expires earlier", k.Name)
	}
	if noRole {
		left.Disable, left.RoleIDs = true, k.RoleIDs
	}
	if noNetwork {
		left.Disable, left.Networks = true, k.Networks
	}
	if len(c.titles) > n {
		c.found.Narrowed = append(c.found.Narrowed, left)
	}
}

// rolesLeft returns the roles that a key has in both states. A personal key without roles has those of its owner.
func (c *comparison) rolesLeft(k, later *APIKey) []ID {
	switch {
	case bool(k.Personal) && len(later.RoleIDs) == 0:
		return k.RoleIDs
	case bool(k.Personal) && len(k.RoleIDs) == 0:
		return existing(c.restored, Roles, later.RoleIDs)
	}
	return without(k.RoleIDs, without(k.RoleIDs, later.RoleIDs))
}

// scopeLeft returns the data scope of a key that is the narrower one. Where neither contains the other, it is the later one.
func (c *comparison) scopeLeft(k, later *APIKey) (string, []ID) {
	was, is := k.DataScope, later.DataScope
	switch {
	case was == ScopeCustom && is == ScopeCustom:
		taken := without(k.DeptIDs, later.DeptIDs)
		return was, without(k.DeptIDs, existing(c.replaced, Depts, taken)) // a department that was deleted is back
	case was == is, is == "", is == ScopeAll, was == ScopeSelf, was == ScopeDept && is == ScopeTree:
		return was, k.DeptIDs
	}
	return is, existing(c.restored, Depts, later.DeptIDs)
}

// networksLeft returns the addresses and networks that are in both lists, of which an empty one contains all.
func networksLeft(was, is []string) (left []string) {
	switch {
	case len(is) == 0 || slices.Equal(was, is):
		return was
	case len(was) == 0:
		return is
	}
	for _, a := range was {
		for _, b := range is {
			one, other, both := networkOf(a), networkOf(b), a
			if one.Bits() < other.Bits() {
				both = b
			}
			if one.Overlaps(other) && !slices.Contains(left, both) {
				left = append(left, both)
			}
		}
	}
	return left
}

// networkOf parses an address or a network of a key; the zero value if it is neither.
func networkOf(text string) netip.Prefix {
	if addr, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(addr, addr.BitLen())
	}
	prefix, _ := netip.ParsePrefix(text) // the zero value is not valid
	return prefix
}

// withdraw restricts a key as it was. One that has expired is disabled, and one gets no more time than the setting
// allows: no other time can be stored, and the first start must not fail.
func (n *narrowedKey) withdraw(tx *Tx) error {
	return quietly(tx, APIKeys, n.ID, func(k *APIKey) {
		k.RoleIDs, k.DataScope, k.DeptIDs, k.Networks = n.RoleIDs, n.DataScope, n.DeptIDs, n.Networks
		switch {
		case n.Disable || n.ExpiresAt <= tx.Now():
			k.Status = false
		case n.ExpiresAt < k.ExpiresAt:
			k.ExpiresAt = min(n.ExpiresAt, tx.Now().Add(time.Duration(KeyMaxDays.Get(tx))*24*time.Hour))
		}
	})
}
