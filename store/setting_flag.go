package store

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"reeve/store/errs"
	"reeve/store/feature"
	"reeve/store/kv"
)

// FlagSetting is a setting of the type flag in a SettingSet.
type FlagSetting struct {
	Key   string        // "group.key", by which clients name the flag
	Group *SettingGroup // its group, on which depends who may evaluate it
	Flag  *feature.Flag // nil if the stored value is damaged

	Values string // the stored value
	At     Time   // time of the last change of the flag or its group
}

// MayEvaluate reports whether an actor may evaluate the flag: everybody may in a public group,
// others need the permission to read the group. App users have no permissions.
func (f *FlagSetting) MayEvaluate(tx *Tx, a *Actor) bool {
	return bool(f.Group.Public) || a.Known() && a.HasPermission(tx, ReadPermission(f.Group.Key))
}

// Times returns the next time at which a rule of the flag begins or ends; the largest
// Time if there is none. passed is how many have passed.
func (f *FlagSetting) Times(now Time) (next Time, passed int) {
	next = math.MaxInt64
	if f.Flag == nil {
		return next, 0
	}
	for i := range f.Flag.Rules {
		for _, at := range []time.Time{f.Flag.Rules[i].From, f.Flag.Rules[i].Until} {
			switch t := Time(at.UnixMicro()); {
			case at.IsZero():
			case t <= now:
				passed++
			default:
				next = min(next, t)
			}
		}
	}
	return next, passed
}

// Flag returns a flag by "group.key"; nil if there is none.
func (c *SettingSet) Flag(key string) *FlagSetting {
	all := c.Flags()
	i, found := slices.BinarySearchFunc(all, key, func(f FlagSetting, key string) int {
		return cmp.Compare(f.Key, key)
	})
	if !found {
		return nil
	}
	return &all[i]
}

// flags computes Flags.
func (c *SettingSet) flags() []FlagSetting {
	groups, all := make(map[ID]*SettingGroup, len(c.Groups)), []FlagSetting{}
	for _, g := range c.Groups {
		groups[g.ID] = g.Value
	}
	for _, s := range c.Settings {
		if s.Value.Type != "flag" {
			continue
		}
		f, _ := feature.Parse(s.Value.Values) // an error leaves nil
		group := groups[s.Value.GroupID]
		all = append(all, FlagSetting{group.Key + "." + s.Value.Key, group, f, s.Value.Values,
			max(s.Value.UpdatedAt, group.UpdatedAt)})
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Key < all[j].Key })
	return all
}

// changesFlags reports whether changed settings are or were flags.
func (c *SettingSet) changesFlags(settings map[ID]*Setting) bool {
	for id, is := range settings {
		if was := c.records.Get(id); was != nil && was.Type == "flag" ||
			is != nil && is.Type == "flag" {
			return true
		}
	}
	return false
}

func normalizeFlag(_ *Setting, text string) (string, error) {
	_, err := feature.Parse(text)
	return text, err
}

// checkFlag checks that the roles, departments and users that a flag newly names exist in the
// actor's data scope. A record that is deleted later is still named, and matches no one.
func checkFlag(tx *Tx, old, new *Setting) error {
	if new.Type != "flag" || ActorOf(tx) == System {
		return nil
	}

	f, err := feature.Parse(new.Values)
	if err != nil {
		return errs.Field(errs.Invalid, "values", "%s", err)
	}

	seen := map[string]bool{}
	if old != nil && old.Type == "flag" {
		if before, err := feature.Parse(old.Values); err == nil { // else nothing was named before
			for kind, ids := range named(before) {
				for _, n := range ids {
					seen[kind+n.at.String()] = true
				}
			}
		}
	}

	for _, kind := range []string{"roles", "app_roles", "depts", "users", "app_users"} {
		for _, n := range named(f)[kind] {
			if seen[kind+n.at.String()] {
				continue
			}
			seen[kind+n.at.String()] = true
			noun, known, err := knows(tx, kind, n.at)
			if err != nil {
				return err
			}
			if !known {
				return errs.Field(errs.Invalid, "values", "%s: %s",
					"rules["+strconv.Itoa(n.rule)+"]."+kind,
					errs.Say("%s %d not found", errs.Noun(noun), n.at))
			}
		}
	}

	return nil
}

// mention is an ID that a rule names.
type mention struct {
	rule int
	at   ID
}

// named returns the IDs in the conditions of a flag, by the name of the condition.
func named(f *feature.Flag) map[string][]mention {
	all := map[string][]mention{}
	for i, r := range f.Rules {
		for kind, ids := range map[string][]uint64{
			"roles":     r.Roles,
			"app_roles": r.AppRoles,
			"depts":     r.Depts,
			"users":     r.Users,
			"app_users": r.AppUsers,
		} {
			for _, id := range ids {
				all[kind] = append(all[kind], mention{i, ID(id)})
			}
		}
	}
	return all
}

// knows reports whether the actor of a transaction can name a record in a condition.
func knows(tx *Tx, kind string, id ID) (noun string, known bool, err error) {
	rules, scope := PolicyCache.Get(tx), ActorOf(tx).Scope(tx)
	switch kind {
	case "roles":
		return Roles.Noun(), rules.roles.Get(id) != nil, nil
	case "app_roles":
		return AppRoles.Noun(), AppPolicyCache.Get(tx).roles.Get(id) != nil, nil
	case "depts":
		return Depts.Noun(), rules.depts.Get(id) != nil && scope.HasDept(id), nil
	case "users":
		u, err := Users.Get(tx, id)
		return Users.Noun(), err == nil && scope.HasUser(u), ignoreMissing(err)
	}
	_, err = AppUsers.Get(tx, id)
	return AppUsers.Noun(), err == nil, ignoreMissing(err)
}

// Subject returns the account as "user:7" or "app_user:3", the targeting key of its flags.
func (a Account) Subject() string {
	return a.Kind() + ":" + a.ID.String()
}

// ParseSubject is the reverse of Account.Subject.
func ParseSubject(text string) (a Account, ok bool) {
	kind, number, _ := strings.Cut(text, ":")
	id, err := strconv.ParseUint(number, 10, 63)
	a = Account{App: kind == "app_user", ID: ID(id)}
	return a, err == nil && id != 0 && a.Subject() == text
}

// FlagSubject returns the subject of a user or app user for the evaluation of flags, from the
// current records. It has the enabled roles, the department with its ancestors, and the attributes
// username and realm. For each custom field that programs may read, it has fields.KEY. The user
// must not be an API key.
func FlagSubject(tx *Tx, a *Actor) (*feature.Subject, error) {
	rules := PolicyOf(tx, a)
	roles := numbers(rules.EnabledRoles(a.RoleIDs))
	s := &feature.Subject{
		Key:        a.Account().Subject(),
		Attributes: map[string]string{"username": a.Username, "realm": "admin"},
	}
	if a.App {
		s.AppUser, s.AppRoles, s.Attributes["realm"] = uint64(a.ID), roles, "app"
	} else {
		s.User, s.Roles, s.Depts = uint64(a.ID), roles, numbers(rules.ancestors(a.DeptID))
	}

	fields, values, err := customValues(tx, a)
	for _, f := range fields {
		if text := values.Get(f.ID); text != "" {
			s.Attributes["fields."+f.Key] = text
		}
	}

	return s, err
}

// customValues returns the custom fields of a user of either realm that programs may read, and the
// values. The record is read only if there are such fields.
func customValues(tx *Tx, a *Actor) (fields []*CustomField, values FieldValues, err error) {
	who := a.Account()
	if fields = CustomFieldsOf(tx, who.Realm(), FieldProgram); len(fields) == 0 {
		return nil, nil, nil
	}
	u, err := who.Member(tx)
	if err != nil {
		return nil, nil, ignoreMissing(err)
	}
	return fields, *u.Fields, nil
}

// ProgramFields returns the values of the custom fields of a user of either realm that programs may
// read, by key; nil if there are no such fields.
func ProgramFields(tx *Tx, a *Actor) (map[string]any, error) {
	fields, values, err := customValues(tx, a)
	if len(fields) == 0 {
		return nil, err
	}
	out := map[string]any{}
	for _, f := range fields {
		if value := f.Value(values.Get(f.ID)); value != nil {
			out[f.Key] = value
		}
	}
	return out, err
}

// KnownSubject is like FlagSubject for an account that an API key names; nil if there is no enabled
// user in the data scope of the key. App users are in every data scope.
func KnownSubject(tx *Tx, account Account) (*feature.Subject, error) {
	if account.App {
		u, err := AppUsers.Get(tx, account.ID)
		if err != nil || !bool(u.Usable()) {
			return nil, ignoreMissing(err)
		}
		return FlagSubject(tx, AppActor(u))
	}
	u, err := EnabledUser(tx, account.ID)
	if err != nil || u == nil ||
		!ActorOf(tx).Scope(tx).HasUser(&User{Ident: Ident{ID: u.ID}, DeptID: u.DeptID}) {
		return nil, err
	}
	return FlagSubject(tx, u)
}

// StatedIdentity sets the roles, by IDs or names, and the department of a user without a record.
// Unknown names match no one.
func StatedIdentity(tx *Tx, s *feature.Subject, roles []string, dept ID) {
	rules := PolicyCache.Get(tx)
	for _, text := range roles {
		if id, err := strconv.ParseUint(text, 10, 63); err == nil {
			s.Roles = append(s.Roles, id)
			continue
		}
		for id, role := range rules.roles.All() {
			if role.Name == text {
				s.Roles = append(s.Roles, uint64(id))
			}
		}
	}
	s.Depts = numbers(rules.ancestors(dept))
}

// ancestors returns the IDs of a department, if it exists, and of all above it.
func (r *Policy) ancestors(dept ID) []ID {
	var ids []ID
	for d := r.depts.Get(dept); d != nil && len(ids) <= kv.MaxDepth; d = r.depts.Get(d.ParentID) {
		ids = append(ids, d.ID)
	}
	return ids
}

func numbers(ids []ID) []uint64 {
	all := make([]uint64, len(ids))
	for i, id := range ids {
		all[i] = uint64(id)
	}
	return all
}
