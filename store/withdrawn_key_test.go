package store

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"reeve/store/disk/disktest"
)

const day = Time(24 * time.Hour / time.Microsecond)

// keyRightsOf describes what keys may do.
func keyRightsOf(t *testing.T, db *DB) map[string]string {
	t.Helper()
	all := map[string]string{}
	view(t, db, func(tx *Tx) error {
		for k, err := range APIKeys.All(tx) {
			noErr(t, err)
			all[k.Name] = fmt.Sprint(k.Status, k.RoleIDs, k.DataScope, k.DeptIDs, k.Networks, k.ExpiresAt/day)
		}
		return nil
	})
	return all
}

// TestRestore_NarrowedKeys restricts and widens API keys after a backup: with it comes back what both states allow.
func TestRestore_NarrowedKeys(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := withPeople(t, dir)
	var now atomic.Int64 // clock of the restored data
	options := Options{Clock: func() Time { return Time(now.Add(1)) }}
	var over, soon, most, long, late, end Time
	var roles, depts []ID // the last ones are created later
	grow := func(tx *Tx) {
		r := &Role{Name: fmt.Sprint("Role ", len(roles)), Status: true, DataScope: ScopeAll}
		noErr(t, Roles.Create(tx, r))
		d := &Dept{Name: fmt.Sprint("Dept ", len(depts)), Status: true}
		noErr(t, Depts.Create(tx, d))
		roles, depts = append(roles, r.ID), append(depts, d.ID)
	}
	update(t, p.db, func(tx *Tx) error {
		for range 3 {
			grow(tx)
		}
		today := tx.Now() / day * day
		over, soon, most, long, late, end = today+2*day, today+3*day, today+7*day, today+10*day, today+20*day, today+40*day
		return nil
	})
	id := func(all []ID, at ...int) (list []ID) {
		for _, i := range at {
			if i < len(all) { // another one does not exist yet
				list = append(list, all[i])
			}
		}
		return list
	}
	with := func(personal bool, edit func(*APIKey)) func() APIKey {
		return func() APIKey {
			k := APIKey{UserID: p.owner, Status: true, Personal: Flag(personal), ExpiresAt: late}
			edit(&k)
			return k
		}
	}
	withRoles := func(personal bool, at ...int) func() APIKey {
		return with(personal, func(k *APIKey) { k.RoleIDs = id(roles, at...) })
	}
	scope := func(name string, at ...int) func() APIKey {
		return with(false, func(k *APIKey) { k.DataScope, k.DeptIDs = name, id(depts, at...) })
	}
	networks := func(list ...string) func() APIKey { return with(false, func(k *APIKey) { k.Networks = list }) }
	until := func(at *Time) func() APIKey { return with(false, func(k *APIKey) { k.ExpiresAt = *at }) }
	off := func(of func() APIKey) func() APIKey {
		return func() APIKey {
			k := of()
			k.Status = false
			return k
		}
	}
	cases := []struct {
		name             string
		was, is, becomes func() APIKey
		title            string // text that is listed; "" for none
	}{
		{"fewer roles", withRoles(false, 0, 1), withRoles(false, 1), withRoles(false, 1), "roles"},
		{"no roles", withRoles(false, 0, 1), withRoles(false), withRoles(false), "roles"},
		{"more roles", withRoles(false, 0), withRoles(false, 3, 1, 0), withRoles(false, 0), ""},
		{"other roles", withRoles(false, 0, 1), withRoles(false, 1, 2), withRoles(false, 1), "roles"},
		{"roles in another order", withRoles(false, 0, 1), withRoles(false, 1, 0), withRoles(false, 0, 1), ""},
		{"some roles of a person", withRoles(true), withRoles(true, 3, 1), withRoles(true, 1), "roles"},
		{"only a new role of a person", withRoles(true), withRoles(true, 3), off(withRoles(true)), "roles"},
		{"other roles of a person", withRoles(true, 0), withRoles(true, 1), off(withRoles(true, 0)), "roles"},
		{"all roles of a person", withRoles(true, 0), withRoles(true), withRoles(true, 0), ""},
		{"tree", scope(""), scope(ScopeTree), scope(ScopeTree), "data scope"},
		{"department", scope(ScopeTree), scope(ScopeDept), scope(ScopeDept), "data scope"},
		{"self", scope(ScopeCustom, 0), scope(ScopeSelf), scope(ScopeSelf), "data scope"},
		{"any scope", scope(ScopeSelf), scope(""), scope(ScopeSelf), ""},
		{"all", scope(ScopeTree), scope(ScopeAll), scope(ScopeTree), ""},
		{"wider", scope(ScopeDept), scope(ScopeTree), scope(ScopeDept), ""},
		{"departments", scope(ScopeAll), scope(ScopeCustom, 0, 3), scope(ScopeCustom, 0), "data scope"},
		{"other departments", scope(ScopeCustom, 0, 1), scope(ScopeCustom, 1, 3), scope(ScopeCustom, 1), "data scope"},
		{"department that is deleted", scope(ScopeCustom, 0, 2), scope(ScopeCustom, 0, 2), scope(ScopeCustom, 0, 2), ""},
		{"tree for departments", scope(ScopeCustom, 0), scope(ScopeTree), scope(ScopeTree), "data scope"},
		{"a network", networks(), networks("10.0.0.0/8"), networks("10.0.0.0/8"), "networks"},
		{"any network", networks("10.0.0.0/8"), networks(), networks("10.0.0.0/8"), ""},
		{"parts of a network", networks("10.0.0.0/8", "192.0.2.7"), networks("10.1.0.0/16", "10.2.0.0/16", "192.0.2.0/24"),
			networks("10.1.0.0/16", "10.2.0.0/16", "192.0.2.7"), "networks"},
		{"another network", networks("10.0.0.0/8"), networks("192.0.2.7"), off(networks("10.0.0.0/8")), "networks"},
		{"shorter", until(&late), until(&soon), until(&soon), "it expires earlier"},
		{"longer than the setting of the backup", until(&late), until(&long), until(&most), "it expires earlier"},
		{"longer", until(&late), until(&end), until(&late), ""},
		{"expired", until(&late), until(&over), off(until(&late)), "it expires earlier"},
	}
	keys := map[string]ID{}
	var maxDaysID ID
	maxDays := func(tx *Tx, days string) {
		_, err := SaveSetting(tx, maxDaysID, func(s *Setting) error { s.Values = days; return nil })
		noErr(t, err)
	}
	update(t, p.db, func(tx *Tx) error {
		for _, c := range cases {
			k := c.was()
			k.Name = c.name
			noErr(t, APIKeys.Create(tx, &k))
			keys[c.name] = k.ID
		}
		group := &SettingGroup{Key: "security", Title: "Security"}
		noErr(t, SettingGroups.Create(tx, group))
		setting := &Setting{Key: "key_max_days", Title: "Days", Type: "number", Values: "365", GroupID: group.ID}
		noErr(t, Settings.Create(tx, setting))
		maxDaysID = setting.ID
		maxDays(tx, "5")
		return nil
	})
	backup := p.backup(t)
	want, titles := map[string]string{}, []string{}
	for _, c := range cases {
		k := c.becomes()
		want[c.name] = fmt.Sprint(k.Status, k.RoleIDs, k.DataScope, k.DeptIDs, k.Networks, k.ExpiresAt/day)
		if c.title != "" {
			titles = append(titles, "API key "+c.name+": "+c.title)
		}
	}
	update(t, p.db, func(tx *Tx) error {
		grow(tx)
		maxDays(tx, "365")
		for _, c := range cases {
			k := c.is()
			_, err := APIKeys.Update(tx, keys[c.name], func(v *APIKey) error {
				v.RoleIDs, v.DataScope, v.DeptIDs, v.Networks, v.ExpiresAt = k.RoleIDs, k.DataScope, k.DeptIDs, k.Networks, k.ExpiresAt
				return nil
			})
			noErr(t, err)
		}
		return Depts.Delete(tx, depts[2])
	})
	shut(t, p.db)
	slices.Sort(titles)
	now.Store(int64(over)) // a key has expired
	for range 2 {
		done, err := Restore(dir, backup, nil, options)
		noErr(t, errors.Join(err, done.RightsUnread))
		slices.Sort(done.Withdrawn)
		disktest.Equal(t, "withdrawn", done.Withdrawn, titles)
		p.db = open(t, dir, options)
		disktest.Equal(t, "rights after the restore", keyRightsOf(t, p.db), want)
		shut(t, p.db)
		for i, title := range titles { // the replaced data are the restored ones now
			for _, c := range cases {
				if !c.becomes().Status && title == "API key "+c.name+": "+c.title {
					titles[i] = "API key " + c.name + ": it was disabled"
				}
			}
		}
		slices.Sort(titles)
	}
}
