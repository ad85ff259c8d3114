package store

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reeve/store/audit"
	"reeve/store/disk/disktest"
	"reeve/store/errs"
	"reeve/store/kv"
)

// people is a database with an owner, a member of staff with records everywhere, and an app user.
type people struct {
	db                *DB
	owner, staff, app ID
}

func withPeople(t *testing.T, dir string) *people {
	t.Helper()
	p := &people{db: open(t, dir, Options{})}
	up, err := p.db.NewUpload()
	noErr(t, err)
	defer up.Release()
	_, err = up.Write([]byte("a text"))
	noErr(t, err)
	digest, err := up.Finish()
	noErr(t, err)
	update(t, p.db, func(tx *Tx) error {
		owner := &User{Username: "boss", Status: true, RoleIDs: []ID{OwnerRole}}
		staff := &User{
			Username: "Alice",
			Nickname: "Alice A.",
			Email:    "alice@example.org",
			Mobile:   "5550001",
			Status:   true,
		}

		app := &AppUser{Username: "shopper", Email: "s@example.org", Status: true}
		role := &Role{Name: "Owner", Status: true, DataScope: ScopeAll}
		for _, create := range []func() error{
			func() error { return Roles.Create(tx, role) },
			func() error { return Users.Create(tx, owner) },
			func() error { return Users.Create(tx, staff) },
			func() error { return AppUsers.Create(tx, app) },
		} {
			if err := create(); err != nil {
				return err
			}
		}

		p.owner, p.staff, p.app = owner.ID, staff.ID, app.ID
		for range 2*kv.MaxRecordsPerWrite + 1 {
			if err := LoginLogs.Create(tx, &LoginLog{
				UserID:   p.staff,
				Username: "Alice",
				Realm:    "admin",
				IP:       "192.0.2.7",
			}); err != nil {
				return err
			}
		}

		for _, err := range []error{
			LoginLogs.Create(tx, &LoginLog{UserID: p.owner, Username: "boss", Realm: "admin"}),
			LoginLogs.Create(tx, &LoginLog{AppUserID: p.app, Username: "shopper", Realm: "app"}),
			Sessions.Create(tx, &Session{UserID: p.staff, IP: "192.0.2.7"}),
			Sessions.Create(tx, &Session{AppUserID: p.app}),
			addDevice(tx, p.staff),
			Files.Create(tx, &File{
				Name:         "a",
				UploaderID:   p.staff,
				UploaderName: "Alice",
				FileContent:  FileContent{Digest: digest, Size: 6},
			}),
			Files.Create(tx, &File{
				Name:         "b",
				UploaderID:   p.owner,
				UploaderName: "boss",
				FileContent:  FileContent{Digest: digest, Size: 6},
			}),
			Jobs.Create(tx, &Job{
				Kind:     "user_import",
				State:    JobDone,
				UserID:   p.staff,
				Username: "Alice",
			}),
		} {
			if err != nil {
				return err
			}
		}

		return nil
	})
	return p
}

func addDevice(tx *Tx, user ID) error {
	_, err := AddDevice(tx, Account{ID: user}, "x", Client{})
	return err
}

func (p *people) boss() *Actor {
	return &Actor{ID: p.owner, Username: "boss", RoleIDs: []ID{OwnerRole}}
}

func (p *people) handle() Handle { return p.db.WithRecorder(nil) }

// readable returns the values of a person in the change log that can be read.
func readable(t *testing.T, db *DB, who Account) (texts []string) {
	t.Helper()
	view(t, db, func(tx *Tx) error {
		return tx.LogRows(0, func(row audit.Row) bool {
			e, err := row.Decode()
			noErr(t, err)
			values := []audit.Value{e.Actor.Name, e.Address}
			for _, c := range e.Changes {
				values = append(values, c.Name)
				for _, f := range c.Fields {
					values = append(values, f.Old, f.New)
				}
			}

			for _, v := range values {
				if v.Person != who.Person() {
					continue
				}
				text, known, err := ReadLogged(tx, v)
				noErr(t, err)
				if known {
					texts = append(texts, string(text))
				}
			}

			return true
		})
	})
	return texts
}

// holds reports whether any record of the database, or the list of erasures, has a text.
func holds(t *testing.T, db *DB, text string) (found []string) {
	t.Helper()
	view(t, db, func(tx *Tx) error {
		for _, all := range []any{
			allOf(t, db, Users), allOf(t, db, AppUsers), allOf(t, db, LoginLogs),
			allOf(t, db, Sessions), allOf(t, db, Files), allOf(t, db, Jobs), allOf(t, db, Erasures),
		} {
			encoded, err := json.Marshal(all)
			noErr(t, err)
			if strings.Contains(strings.ToLower(string(encoded)), strings.ToLower(text)) {
				found = append(found, string(encoded)[:min(200, len(encoded))])
			}
		}
		return tx.LogRows(0, func(row audit.Row) bool {
			if strings.Contains(strings.ToLower(string(row.Text)), strings.ToLower(text)) {
				found = append(found, string(row.Text))
			}
			return true
		})
	})
	list, _ := os.ReadFile(filepath.Join(db.Dir(), erasedName))
	if strings.Contains(strings.ToLower(string(list)), strings.ToLower(text)) {
		found = append(found, string(list))
	}

	return found
}

func (p *people) erase(t *testing.T, who Account, username string) ErasedCounts {
	t.Helper()
	e, counts, err := Erase(p.handle(), p.boss(), who, username)
	noErr(t, err)
	noErr(t, FinishErasure(p.handle(), e, &counts))
	noErr(t, FinishErasure(p.handle(), e, &ErasedCounts{})) // a repetition
	noErr(t, EndErasure(p.handle(), e, false))
	noErr(t, EndErasure(p.handle(), e, false))
	return counts
}

func TestErasure_NoRecordLeft(t *testing.T) {
	p := withPeople(t, t.TempDir())
	who := Account{ID: p.staff}
	if len(readable(t, p.db, who)) == 0 {
		t.Fatal("the change log has nothing about the person, so nothing can be erased in it")
	}

	counts := p.erase(t, who, "Alice")
	disktest.Equal(t, "counts", counts, ErasedCounts{
		Sessions: 1,
		Devices:  1,
		SignIns:  2*kv.MaxRecordsPerWrite + 1,
		Files:    1,
		Jobs:     1,
	})
	for _, text := range []string{"alice", "5550001", "192.0.2.7"} {
		if found := holds(t, p.db, text); found != nil {
			t.Errorf("%s is still in %q", text, found)
		}
	}

	disktest.Equal(t, "readable in the change log", readable(t, p.db, who), []string(nil))
	disktest.Equal(t, "sign-ins of others", len(allOf(t, p.db, LoginLogs)), 2)
	disktest.Equal(t, "names of other uploaders", allOf(t, p.db, Files)[1].UploaderName, "boss")
	if len(readable(t, p.db, Account{ID: p.owner})) == 0 {
		t.Error("the values of others cannot be read any more")
	}

	late := &LoginLog{
		UserID:   p.staff,
		Username: "Alice",
		IP:       "192.0.2.7",
		Realm:    "admin",
		Result:   LoginThrottled,
	}
	update(t, p.db, func(tx *Tx) error { row := *late; return LoginLogs.Create(tx, &row) })
	if found := holds(t, p.db, "alice"); found != nil {
		t.Errorf("a late row of the sign-in log: %q", found)
	}

	info, err := os.Stat(filepath.Join(p.db.Dir(), erasedName))
	noErr(t, err)
	disktest.Equal(t, "mode", info.Mode().Perm(), os.FileMode(0o600))

	counts = p.erase(t, Account{App: true, ID: p.app}, "shopper")
	disktest.Equal(t, "counts of the app user", counts, ErasedCounts{Sessions: 1, SignIns: 1})
	if found := holds(t, p.db, "shopper"); found != nil {
		t.Errorf("the app user is still in %q", found)
	}
}

func TestErasure_Refused(t *testing.T) {
	p := withPeople(t, t.TempDir())
	var clerk, far *Actor
	update(t, p.db, func(tx *Tx) error {
		dept := &Dept{Name: "Far", Status: true}
		if err := Depts.Create(tx, dept); err != nil {
			return err
		}

		all := &Role{Name: "clerk", Status: true, DataScope: ScopeAll}
		own := &Role{Name: "far", Status: true, DataScope: ScopeDept}
		for _, role := range []*Role{all, own} {
			if err := Roles.Create(tx, role); err != nil {
				return err
			}
		}

		a, b := &User{Username: "clerk", Status: true, RoleIDs: []ID{all.ID}}, &User{
			Username: "far",
			Status:   true,
			RoleIDs:  []ID{own.ID},
			DeptID:   dept.ID,
		}
		for _, u := range []*User{a, b} {
			if err := Users.Create(tx, u); err != nil {
				return err
			}
		}

		clerk, far = &Actor{ID: a.ID, Username: "clerk", RoleIDs: a.RoleIDs}, &Actor{
			ID:       b.ID,
			Username: "far",
			RoleIDs:  b.RoleIDs,
			DeptID:   b.DeptID,
		}

		return nil
	})
	before := len(allOf(t, p.db, Users))
	for name, test := range map[string]struct {
		actor    *Actor
		who      Account
		username string
		want     refusal
	}{
		"oneself": {p.boss(), Account{ID: p.owner}, "boss",
			refusal{errs.Conflict, "erase_self", ""}},
		"the last owner": {System, Account{ID: p.owner}, "boss",
			refusal{errs.Conflict, "last_owner", ""}},
		"beyond the ceiling": {clerk, Account{ID: p.owner}, "boss",
			refusal{errs.Denied, "beyond_ceiling", ""}},
		"outside the scope": {far, Account{ID: p.staff}, "Alice",
			refusal{errs.NotFound, "not_found", ""}},
		"another case": {p.boss(), Account{ID: p.staff}, "alice",
			refusal{errs.Invalid, "invalid", "username"}},
		"no such user": {p.boss(), Account{ID: 999}, "x",
			refusal{errs.NotFound, "not_found", ""}},
		"no such app user": {p.boss(), Account{App: true, ID: 999}, "x",
			refusal{errs.NotFound, "not_found", ""}},
		"another app user": {p.boss(), Account{App: true, ID: p.app}, "boss",
			refusal{errs.Invalid, "invalid", "username"}},
		"scope before a name": {far, Account{ID: p.staff}, "x",
			refusal{errs.NotFound, "not_found", ""}},
	} {
		_, _, err := Erase(p.handle(), test.actor, test.who, test.username)
		disktest.Equal(t, name, refusalOf(t, err), test.want)
	}

	disktest.Equal(t, "users", len(allOf(t, p.db, Users)), before)
	if lines, _, err := readErased(p.db.Dir()); err != nil || lines != nil {
		t.Errorf("the list has %v, %v", lines, err)
	}
}

// backup writes a backup to a file.
func (p *people) backup(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "backup.tar")
	f, err := os.Create(path)
	noErr(t, err)
	b, err := p.db.Backup(t.Context(), true)
	noErr(t, err)
	_, err = b.WriteTo(f)
	noErr(t, err)
	noErr(t, b.Close())
	noErr(t, f.Close())
	return path
}

func TestErasure_RepeatedAfterRestore(t *testing.T) {
	dir := t.TempDir()
	p := withPeople(t, dir)
	path := p.backup(t)
	p.erase(t, Account{ID: p.staff}, "Alice")
	shut(t, p.db)

	list := filepath.Join(dir, erasedName)
	torn := append(disktest.ReadFile(t, list), `{"realm":"admin","id":1`...)
	noErr(t, os.WriteFile(list, torn, 0o600))
	_, err := Restore(dir, path, nil, Options{})
	noErr(t, err)

	p.db = open(t, dir, Options{})
	if !slices.ContainsFunc(p.db.Warnings(), func(w string) bool {
		return strings.Contains(w, "it is erased again")
	}) {
		t.Errorf("warnings: %q", p.db.Warnings())
	}

	open := allOf(t, p.db, Erasures)
	disktest.Equal(t, "open erasures", len(open), 1)
	noErr(t, FinishErasure(p.handle(), open[0], &ErasedCounts{}))
	noErr(t, EndErasure(p.handle(), open[0], false))
	if found := holds(t, p.db, "alice"); found != nil {
		t.Errorf("still in %q", found)
	}

	disktest.Equal(t, "readable in the change log", readable(t, p.db, Account{ID: p.staff}),
		[]string(nil))
	disktest.Equal(t, "users", len(allOf(t, p.db, Users)), 1)
	p.erase(t, Account{App: true, ID: p.app}, "shopper") // after the torn line
	lines, unreadable, err := readErased(dir)
	noErr(t, err)
	disktest.Equal(t, "lines, unreadable", [2]int{len(lines), unreadable}, [2]int{2, 0})
}

// TestErasure_ReusedIDIsKept checks that an ID in another history of the database can be that of
// another person.
func TestErasure_ReusedIDIsKept(t *testing.T) {
	dir := t.TempDir()
	p := withPeople(t, dir)
	noErr(t, addErased(dir, erasedLine{
		Realm: "admin",
		ID:    p.staff,
		Key:   strings.Repeat("0", 64),
		At:    1,
	}))
	shut(t, p.db)
	p.db = open(t, dir, Options{})
	disktest.Equal(t, "users", len(allOf(t, p.db, Users)), 2)
	disktest.Equal(t, "warnings", len(p.db.Warnings()), 0)
}

// A person whose record, but not the key, is in the database was restored from a backup that is
// older than keys.
func TestErasure_RepeatedWithoutKey(t *testing.T) {
	dir := t.TempDir()
	p := withPeople(t, dir)
	var line erasedLine
	update(t, p.db, func(tx *Tx) (err error) {
		if line, err = identify(tx, Account{ID: p.staff}); err != nil {
			return err
		}
		key, err := KeyByPerson.Get(tx, Account{ID: p.staff}.Person())
		if err != nil {
			return err
		}
		return PersonKeys.Delete(tx, key.ID)
	})
	noErr(t, addErased(dir, line))
	shut(t, p.db)
	p.db = open(t, dir, Options{})
	disktest.Equal(t, "users", len(allOf(t, p.db, Users)), 1)
}

// TestErasedList_OtherNodes checks that an erasure by another node is in the list before this one has added it to its
// own, and once.
func TestErasedList_OtherNodes(t *testing.T) {
	dir := t.TempDir()
	p := withPeople(t, dir)
	p.erase(t, Account{App: true, ID: p.app}, "shopper")
	own := string(disktest.ReadFile(t, filepath.Join(dir, erasedName)))
	line := `{"realm":"admin","id":7,"key":"00"}`
	e := &Erasure{Line: line}
	update(t, p.db, func(tx *Tx) error { return Erasures.Create(tx, e) })
	for range 2 {
		list, err := ErasedList(p.db)
		noErr(t, err)
		disktest.Equal(t, "list", string(list), own+line+"\n")
		noErr(t, FollowErasures(p.db, []*Erasure{e}))
	}
}

func TestErasure_NotRepeated(t *testing.T) {
	dir := t.TempDir()
	p := withPeople(t, dir)
	var owner, staff erasedLine
	update(t, p.db, func(tx *Tx) (err error) {
		if owner, err = identify(tx, Account{ID: p.owner}); err == nil {
			staff, err = identify(tx, Account{ID: p.staff})
		}
		return err
	})
	withdrawn := staff
	withdrawn.Withdrawn = true
	for _, line := range []erasedLine{owner, staff, withdrawn} {
		noErr(t, addErased(dir, line))
	}

	shut(t, p.db)
	p.db = open(t, dir, Options{})
	disktest.Equal(t, "users", len(allOf(t, p.db, Users)), 2)
	warnings := p.db.Warnings()
	if len(warnings) != 1 || !strings.Contains(warnings[0], "last enabled user") {
		t.Errorf("warnings: %q", warnings)
	}
}

// TestErasure_DeletedKeySealsNothing checks that no data is sealed with a key that an earlier write
// function of the same commit has deleted.
func TestErasure_DeletedKeySealsNothing(t *testing.T) {
	db := office(t)
	who := Account{ID: 2}
	seal := func(tx *Tx) audit.Value {
		w := logWriter{tx: tx}
		v, err := w.sharedPersonal(who, "Ada")
		noErr(t, err)
		return v
	}
	update(t, db, func(tx *Tx) error {
		seal(tx) // creates the key if there is none
		return nil
	})
	update(t, db, func(tx *Tx) error {
		before := seal(tx)
		if !bytes.Equal(seal(tx).Box, before.Box) {
			t.Error("entries of a commit don't share a sealed name")
		}

		key, err := KeyByPerson.Get(tx, who.Person())
		noErr(t, err)
		noErr(t, PersonKeys.Delete(tx, key.ID))
		after := seal(tx)
		aead, err := key.cipher()
		noErr(t, err)
		if _, err := aead.Open(nil, nil, before.Box, []byte(who.Person())); err != nil {
			t.Errorf("before: %v", err)
		}
		if _, err := aead.Open(nil, nil, after.Box, []byte(who.Person())); err == nil {
			t.Error("a value was sealed with the deleted key")
		}

		return nil
	})
}
