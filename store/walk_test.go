package store

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"reeve/store/disk/disktest"
	"reeve/store/errs"
)

// crowd opens a database with random users: two owners and others, roles of which some are
// disabled and some can be granted by others, three levels of permissions, and several
// department trees.
func crowd(t testing.TB, r *rand.Rand) *DB {
	t.Helper()
	return open(t, t.TempDir(), Options{Seed: crowdSeed(r)})
}

// crowdSeed makes the records of crowd.
func crowdSeed(r *rand.Rand) func(tx *Tx) error {
	some := func(last ID, most int) (ids []ID) {
		for range r.IntN(most + 1) {
			ids = append(ids, ID(r.IntN(int(last)))+1)
		}
		return Distinct(ids)
	}
	return func(tx *Tx) (err error) {
		for i := range ID(16) {
			p := &Permission{
				Key:      fmt.Sprint("k.", i),
				ParentID: (i + 2) / 4,
				Type:     PagePermission,
				Status:   r.IntN(6) > 0,
			}
			err = errors.Join(err, Permissions.Create(tx, p))
		}

		for i := range 12 {
			err = errors.Join(err,
				Depts.Create(tx, &Dept{Name: "D", ParentID: ID(r.IntN(i + 1)), Status: true}))
		}

		for i := range 11 {
			role := &Role{
				Name:    fmt.Sprint("R", i),
				Status:  r.IntN(5) > 0 || i == 0,
				RuleIDs: some(16, []int{3, 6, 20}[r.IntN(3)]),
			}
			role.DataScope = []string{ScopeAll, ScopeTree, ScopeTree, ScopeDept, ScopeSelf,
				ScopeCustom}[r.IntN(6)]
			if role.DataScope == ScopeCustom {
				role.DeptIDs = some(12, 8)
			}
			err = errors.Join(err, Roles.Create(tx, role))
		}

		for id := ID(2); id <= 11; id++ { // not the owner role
			if r.IntN(2) == 0 {
				err = errors.Join(err, editRole(id, func(r2 *Role) {
					r2.GrantRoleIDs = slices.DeleteFunc(some(11, 3), func(id ID) bool {
						return id == OwnerRole
					})
				})(tx))
			}
		}

		for i := range 18 {
			u := &User{
				Username: fmt.Sprint("u", i),
				DeptID:   ID(r.IntN(13)),
				Status:   r.IntN(6) > 0 || i < 2,
				RoleIDs:  []ID{OwnerRole},
			}
			if i > 1 {
				u.RoleIDs = slices.DeleteFunc(some(11, 3), func(id ID) bool {
					return id == OwnerRole
				})
			}

			err = errors.Join(err, Users.Create(tx, u))
			if r.IntN(2) == 0 {
				err = errors.Join(err, APIKeys.Create(tx, randomKey(r, tx, u.ID, u.RoleIDs)))
			}
		}

		return err
	}
}

// randomKey returns a new key of a user, personal or with roles that it may be refused for.
func randomKey(r *rand.Rand, tx *Tx, user ID, own []ID) *APIKey {
	k := &APIKey{
		Name:      "key",
		UserID:    user,
		Personal:  r.IntN(3) == 0,
		Status:    true,
		ExpiresAt: tx.Now().Add(time.Hour),
	}
	k.DataScope = []string{"", "", "", ScopeAll, ScopeTree, ScopeSelf}[r.IntN(6)]
	if !bool(k.Personal) {
		k.RoleIDs = []ID{ID(r.IntN(10)) + 2}
	} else if len(own) > 0 && r.IntN(2) == 0 {
		k.RoleIDs = own[:1]
	}
	return k
}

// reach is what users without the owner role hold or may grant together: permissions, whether
// one has the data scope all, and who is an owner.
type reach struct {
	grants map[ID]bool
	all    bool
	owners []ID
	actors []*Actor // users to act as
}

func reachOf(tx *Tx) (*reach, error) {
	rc, rules, enabled := &reach{grants: map[ID]bool{}}, PolicyCache.Get(tx), 0
	for u, err := range Users.All(tx) {
		if err != nil {
			return nil, err
		}
		if slices.Contains(u.RoleIDs, OwnerRole) {
			rc.owners = append(rc.owners, u.ID)
			if u.Status {
				enabled++
			}
			continue
		}
		if !u.Status {
			continue
		}

		rc.actors = append(rc.actors, &Actor{
			ID:       u.ID,
			Username: u.Username,
			RoleIDs:  u.RoleIDs,
			DeptID:   u.DeptID,
		})
		// Computed independently of the code under test.
		for _, id := range u.RoleIDs {
			held := rules.roles.Get(id)
			if held == nil || !bool(held.Status) {
				continue
			}
			for _, id := range append([]ID{id}, held.GrantRoleIDs...) {
				role := rules.roles.Get(id)
				if role == nil {
					continue
				}
				rc.all = rc.all || role.DataScope == ScopeAll || id == OwnerRole
				for _, p := range role.RuleIDs {
					rc.grants[p] = true
				}
			}
		}
	}

	for k, err := range APIKeys.All(tx) {
		if err != nil {
			return nil, err
		}
		if a, err := KeyActor(tx, k); err == nil && !slices.Contains(rc.owners, a.ID) {
			rc.actors = append(rc.actors, a)
		}
	}

	if enabled == 0 {
		return nil, errors.New("there is no enabled owner")
	}

	return rc, nil
}

// wander makes one random change.
func wander(tx *Tx, r *rand.Rand, serial int) (what string, err error) {
	id := func(last int) ID { return ID(r.IntN(last) + 1) }
	ids := func(last, most int) (some []ID) {
		for range r.IntN(most + 1) {
			some = append(some, id(last))
		}
		return some
	}

	user, role, dept, rule := id(24), id(14), id(16), id(18)
	flip := func(f *Flag) { *f = !*f }
	scope := []string{ScopeAll, ScopeTree, ScopeDept, ScopeSelf, ScopeCustom}[r.IntN(5)]
	depts := []ID{}
	if scope == ScopeCustom {
		depts = ids(16, 3)
	}

	switch r.IntN(24) {
	case 0, 1:
		roles := ids(14, 2)
		return fmt.Sprint("create a user with ", roles), Users.Create(tx, &User{
			Username: fmt.Sprint("w", serial),
			DeptID:   ID(r.IntN(16)),
			RoleIDs:  roles,
			Status:   true,
		})
	case 2, 3, 4:
		roles := ids(14, 3)
		return fmt.Sprint("give user ", user, " roles ", roles), editUser(user, func(u *User) {
			u.RoleIDs = roles
		})(tx)
	case 5:
		return fmt.Sprint("add role ", role, " to user ", user), editUser(user, func(u *User) {
			u.RoleIDs = append(u.RoleIDs, role)
		})(tx)
	case 6:
		return fmt.Sprint("add role ", role, " to oneself"), editUser(ActorOf(tx).ID,
			func(u *User) {
				u.RoleIDs = append(u.RoleIDs, role)
			})(tx)
	case 7:
		return fmt.Sprint("move user ", user, " to ", dept), editUser(user, moveTo(dept))(tx)
	case 8:
		return fmt.Sprint("flip user ", user), editUser(user, func(u *User) { flip(&u.Status) })(tx)
	case 9:
		return fmt.Sprint("reset user ", user), SetHash(tx, Account{ID: user},
			fmt.Sprint("hash", serial), true, 0)
	case 10:
		if r.IntN(4) > 0 {
			return "edit oneself", editUser(ActorOf(tx).ID, func(u *User) {
				u.Nickname = fmt.Sprint(serial)
			})(tx)
		}
		return fmt.Sprint("delete user ", user), Users.Delete(tx, user)
	case 11, 12:
		fresh := &Role{
			Name:         fmt.Sprint("W", serial),
			Status:       true,
			RuleIDs:      ids(18, 2),
			DataScope:    scope,
			DeptIDs:      depts,
			GrantRoleIDs: ids(14, 1),
		}
		return fmt.Sprint("create a role of ", fresh.RuleIDs, scope), Roles.Create(tx, fresh)
	case 13, 14:
		return fmt.Sprint("grant role ", role, " permission ", rule), editRole(role, func(r *Role) {
			r.RuleIDs = append(r.RuleIDs, rule)
		})(tx)
	case 15:
		fresh := ids(18, 6)
		return fmt.Sprint("grant role ", role, " permissions ", fresh), editRole(role,
			func(r *Role) {
				r.RuleIDs = fresh
			})(tx)
	case 16:
		return fmt.Sprint("give role ", role, " scope ", scope), editRole(role, func(r *Role) {
			r.DataScope, r.DeptIDs = scope, depts
		})(tx)
	case 17:
		give := ids(14, 2)
		return fmt.Sprint("let role ", role, " give ", give), editRole(role, func(r *Role) {
			r.GrantRoleIDs = give
		})(tx)
	case 18:
		return fmt.Sprint("flip role ", role), editRole(role, func(r *Role) { flip(&r.Status) })(tx)
	case 19:
		switch r.IntN(4) {
		case 0:
			return fmt.Sprint("delete role ", role), Roles.Delete(tx, role)
		case 1:
			return fmt.Sprint("delete permission ", rule), Permissions.Delete(tx, rule)
		case 2:
			return fmt.Sprint("delete department ", dept), Depts.Delete(tx, dept)
		}
		return fmt.Sprint("create a permission below ", rule), Permissions.Create(tx, &Permission{
			Key:      fmt.Sprint("w.", serial),
			ParentID: rule,
			Status:   true,
		})
	case 20:
		parent := id(16)
		return fmt.Sprint("move department ", dept, " to ", parent), editDept(dept, func(d *Dept) {
			d.ParentID = parent
		})(tx)
	}

	switch r.IntN(4) {
	case 0:
		k := randomKey(r, tx, ActorOf(tx).ID, ActorOf(tx).RoleIDs)
		return fmt.Sprint("create a key with ", k.RoleIDs), CreateKey(tx, k,
			fmt.Sprint("hash", serial), "hint")
	case 1:
		_, err := APIKeys.Update(tx, id(12), func(k *APIKey) error {
			switch r.IntN(4) {
			case 0:
				k.UserID = ActorOf(tx).ID
			case 1:
				k.DataScope = ScopeAll
			default:
				k.RoleIDs = ids(14, 2)
			}
			return nil
		})
		return "change a key", err
	case 2:
		return "create a department", Depts.Create(tx,
			&Dept{Name: "W", ParentID: dept, Status: true})
	}

	_, err = Permissions.Update(tx, rule, func(p *Permission) error {
		flip(&p.Status)
		p.ParentID = ID(r.IntN(18))
		return nil
	})
	return fmt.Sprint("flip and move permission ", rule), err
}

var errRefusedHalfway = errors.New("refused after it had written")

// TestRandomWalk_NoRightsGained lets users without the owner role make random changes. What they
// hold or may grant together never grows, and the change log, replayed, is the content of the
// database.
func TestRandomWalk_NoRightsGained(t *testing.T) {
	r, serial, done, outcomes := disktest.Random(t), 0, 0, map[errs.Kind]int{}
	const steps, episode = 20, 1000
	for total := disktest.Size(2000, 8000, 200_000); serial < total; {
		db := crowd(t, r)
		var first *reach
		log := newReplay(t, db)
		view(t, db, func(tx *Tx) (err error) { first, err = reachOf(tx); return err })
		for end := serial + episode; serial < end; {
			err := db.Update(System, func(tx *Tx) error {
				for range steps {
					before, err := reachOf(tx)
					if err != nil || len(before.actors) == 0 {
						serial += steps
						return err
					}

					serial++
					actor := before.actors[r.IntN(len(before.actors))]
					tx.ActAs(actor)
					holders, err := holdersIn(tx)
					if err != nil {
						return err
					}

					given := ceilingFor(tx)
					scope := ActorOf(tx).Scope(tx)
					touched := tx.RecordsChanged()
					what, err := wander(tx, r, serial)
					if err != nil && !errors.As(err, new(*errs.Error)) {
						return err
					}
					if err != nil {
						if outcomes[errs.Of(err).Kind]++; tx.RecordsChanged() > touched {
							return errRefusedHalfway
						}
						continue
					}

					done++
					after, err := reachOf(tx)
					if err == nil {
						err = after.within(first)
					}
					if err == nil {
						err = holders.gained(tx, actor, given, scope)
					}
					if err != nil {
						return fmt.Errorf("step %d, user %d with roles %v in %d: %s: %w", serial,
							actor.ID, actor.RoleIDs, actor.DeptID, what, err)
					}
				}
				return rulesHold(tx)
			})
			if err != nil && !errors.Is(err, errRefusedHalfway) {
				t.Fatal(err)
			}

			log.mustMatch(t, db)
			if serial%250 == 0 {
				mustVerify(t, db)
			}
		}

		shutVerified(t, db)
	}

	t.Logf("%d of %d steps went well; refused by kind: %v", done, serial, outcomes)
	if done < serial/50 || outcomes[errs.Denied] < serial/50 {
		t.Error("the walk went nowhere")
	}
}

// holders are the enabled permissions that each enabled user without the owner role holds.
type holders map[ID]map[string]bool

func holdersIn(tx *Tx) (holders, error) {
	all, rules := holders{}, PolicyCache.Get(tx)
	for u, err := range Users.All(tx) {
		if err != nil {
			return nil, err
		}
		if bool(u.Status) && !slices.Contains(u.RoleIDs, OwnerRole) {
			all[u.ID] = rules.keysOfRoles(u.RoleIDs)
		}
	}
	return all, nil
}

// gained returns an error if a user holds a permission now that the actor could not give, or that
// the actor gave to a user outside the data scope. limit and scope are those before the change.
func (before holders) gained(tx *Tx, actor *Actor, limit *ceiling, scope *Scope) error {
	after, err := holdersIn(tx)
	if err != nil {
		return err
	}

	for id, keys := range after {
		for key := range keys {
			if before[id][key] {
				continue
			}

			p, err := PermissionByKey.Get(tx, key)
			if err != nil {
				return err
			}

			u, err := Users.Get(tx, id)
			if err != nil {
				return err
			}
			if !limit.all && !limit.grants[p.ID] {
				return fmt.Errorf("user %d holds %s, which the actor can't give", id, key)
			}
			if !scope.HasUser(u) && (id != actor.ID || actor.Key != nil) {
				return fmt.Errorf("user %d in department %d, whom the actor can't see, holds %s",
					id, u.DeptID, key)
			}
		}
	}

	return nil
}

func (rc *reach) within(first *reach) error {
	for _, id := range slices.Sorted(maps.Keys(rc.grants)) {
		if !first.grants[id] {
			return fmt.Errorf("permission %d is now within reach", id)
		}
	}
	if rc.all && !first.all {
		return errors.New("the scope all is now within reach")
	}
	if !slices.Equal(rc.owners, first.owners) {
		return fmt.Errorf("the owners are %v, they were %v", rc.owners, first.owners)
	}
	return nil
}
