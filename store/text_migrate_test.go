package store

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"reeve/store/disk/disktest"
	"reeve/store/errs"
	"reeve/store/fold"
	"reeve/store/kv"
)

// schema19 unpacks a data directory that reeve 0.15 has written, with texts that only read the
// same, and returns it.
func schema19(t testing.TB) (dir string) {
	t.Helper()
	dir = t.TempDir()
	packed, err := gzip.NewReader(bytes.NewReader(disktest.ReadFile(t, "testdata/schema-19.tar.gz")))
	noErr(t, err)
	for files := tar.NewReader(packed); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		noErr(t, err)
		path := filepath.Join(dir, filepath.Clean("/"+h.Name))
		if h.Typeflag == tar.TypeDir {
			noErr(t, os.MkdirAll(path, 0o700))
			continue
		}
		content, err := io.ReadAll(files)
		noErr(t, err)
		noErr(t, os.WriteFile(path, content, 0o600))
	}
}

// opened opens a migrated directory, whose files have no content, and waits until its search texts
// are up to date.
func opened(t testing.TB, dir string) *DB {
	t.Helper()
	db, err := Open(dir, Options{Version: "2.0", indexFrom: 5})
	noErr(t, err)
	t.Cleanup(func() { noErr(t, db.Close()) })
	for !db.TextsUpToDate() {
		time.Sleep(time.Millisecond)
	}
	return db
}

func TestSchema19_TextsReadAlike(t *testing.T) {
	dir := schema19(t)
	db := opened(t, dir)
	view(t, db, func(tx *Tx) error {
		disktest.Equal(t, "faults", tx.Verify().Faults, nil)
		for name, c := range map[string]struct {
			get  func() (Ident, error)
			want ID
		}{
			"an address": {ident(UserByEmail.Get(tx, "x@exämple.org")), 1},
			"the same in Punycode": {ident(UserByEmail.Get(tx, "x@xn--exmple-cua.org")),
				2},
			"with a period":               {ident(UserByEmail.Get(tx, "y@example.org.")), 3},
			"without":                     {ident(UserByEmail.Get(tx, "y@example.org")), 4},
			"in capitals":                 {ident(UserByEmail.Get(tx, "Y@EXAMPLE.ORG")), 4},
			"another form of one address": {ident(UserByEmail.Get(tx, "GUS@example.org.")), 5},
			"composed":                    {ident(RoleByName.Get(tx, "Caf\u00e9")), 2},
			"decomposed":                  {ident(RoleByName.Get(tx, "CAFE\u0301")), 3},
			"visible":                     {ident(RoleByName.Get(tx, "support")), 4},
			"invisible":                   {ident(RoleByName.Get(tx, "Support\u200b")), 5},
			"capitals":                    {ident(RoleByName.Get(tx, "ΟΔΟΣ")), 6},
			"a form that none had":        {ident(RoleByName.Get(tx, "ｚｅｂｒａ")), 8},
			"an address of an app user": {ident(AppUserByEmail.Get(tx,
				"jos\u00e9@example.org")), 1},
			"the same decomposed": {ident(AppUserByEmail.Get(tx,
				"jose\u0301@example.org")), 2},
			"an address of a registration": {ident(LinkByRegistration.Get(tx, "new@exämple.org")),
				1},
			"the same registration in ASCII": {ident(LinkByRegistration.Get(tx,
				"new@xn--exmple-cua.org")), 2},
			"a value of a dictionary":     {ident(DictItemByValue.Get(tx, "1.\u00e4")), 1},
			"the same value decomposed":   {ident(DictItemByValue.Get(tx, "1.a\u0308")), 2},
			"full width name of a folder": {ident(FileGroupByName.Get(tx, "ＨＲ")), 1},
			"the name of a folder":        {ident(FileGroupByName.Get(tx, "hr")), 2},
			"an app role with ß":          {ident(AppRoleByName.Get(tx, "straße")), 1},
			"an app role with SS":         {ident(AppRoleByName.Get(tx, "STRASSE")), 2},
		} {
			got, err := c.get()
			disktest.Equal(t, name, got.ID, c.want)
			noErr(t, err)
		}

		for part, want := range map[string][]ID{
			"muller":        {1},
			"JÜRGEN MÜLLER": {1},
			"strasse":       {5},
			"zoe":           {3},
			"ab":            {4},
		} {
			ids, err := Users.FindIDs(tx, kv.Query[User]{Search: fold.Search(part), Limit: 9})
			noErr(t, err)
			disktest.Equal(t, "users found by "+part, ids, want)
		}

		ids, err := Files.FindIDs(tx, kv.Query[File]{Order: FileByName.Order(), Limit: 9})
		disktest.Equal(t, "files by name", ids, []ID{2, 4, 3, 1})
		roles, err2 := Roles.FindIDs(tx, kv.Query[Role]{Order: RoleByName.Order(), Limit: 9})
		disktest.Equal(t, "roles by name", roles, []ID{2, 3, 1, 4, 5, 8, 6, 7})
		return errors.Join(err, err2)
	})
	_, err := os.Stat(filepath.Join(dir, dataName+".schema-19"))
	noErr(t, err)
}

func ident(v any, err error) func() (Ident, error) {
	return func() (Ident, error) {
		switch v := v.(type) {
		case *User:
			return v.Ident, err
		case *AppUser:
			return v.Ident, err
		case *Role:
			return v.Ident, err
		case *AppRole:
			return v.Ident, err
		case *FileGroup:
			return v.Ident, err
		case *Link:
			return v.Ident, err
		case *DictItem:
			return v.Ident, err
		}
		return Ident{}, fmt.Errorf("a %T", v)
	}
}

func clashesOf(t testing.TB, db *DB) (all []string) {
	t.Helper()
	view(t, db, func(tx *Tx) error {
		clashes, complete, err := Clashes(tx, 10)
		disktest.Equal(t, "complete", complete, true)
		for _, c := range clashes {
			all = append(all, fmt.Sprint(c.Collection, " ", c.Field, " ", c.IDs))
		}
		slices.Sort(all)
		return err
	})
	return all
}

// Records that clash stay as they are until one of their texts is edited, and are listed until the
// clash ends.
func TestSchema19_Clashes(t *testing.T) {
	dir := schema19(t)
	db := opened(t, dir)
	all := []string{
		"app_role name [1 2]", "app_user email [1 2]", "app_user fields.street [1 2]",
		"dict_item value [1 2]", "file_group name [1 2]", "link email [1 2]",
		"role name [2 3]", "role name [4 5]", "role name [6 7]", "user email [1 2]",
		"user email [3 4]",
	}
	disktest.Equal(t, "clashes", clashesOf(t, db), all)
	edit := func(id ID, change func(*User)) error {
		return db.Update(System, func(tx *Tx) error {
			_, err := Users.Update(tx, id, func(u *User) error { change(u); return nil })
			return err
		})
	}
	for _, id := range []ID{1, 2} {
		err := edit(id, func(u *User) { u.Nickname = "New" })
		if e := errs.Of(err); e.Kind != errs.Conflict || e.Code != "duplicate" ||
			e.Fields["email"].Empty() {
			t.Errorf("another nickname of user %d: %v", id, err)
		}
		noErr(t, edit(id, func(u *User) { u.MustChangePassword = true }))
		noErr(t, edit(id, func(u *User) { u.DeptID = 0 }))
		noErr(t, db.Update(System, func(tx *Tx) error {
			_, err := Users.UpdateQuietly(tx, id, func(u *User) error {
				u.LoginIP = "192.0.2.1"
				return nil
			})
			return err
		}))
	}

	if err := edit(5, func(u *User) { u.Email = "X@Exämple.org." }); !errs.Is(err, errs.Conflict) {
		t.Errorf("an address that reads like two others: %v", err)
	}

	noErr(t, edit(2, func(u *User) { u.Nickname, u.Email = "New", "other@example.org" }))
	noErr(t, edit(1, func(u *User) { u.Nickname = "New" }))
	disktest.Equal(t, "after a change", clashesOf(t, db),
		slices.DeleteFunc(slices.Clone(all), func(c string) bool {
			return c == "user email [1 2]"
		}))
	err := edit(4, func(u *User) { u.Email = ""; u.Nickname = "x\u200by" })
	if e := errs.Of(err); e.Kind != errs.Invalid || e.Fields["nickname"].Empty() {
		t.Errorf("another invisible name: %v", err)
	}

	noErr(t, edit(4, func(u *User) { u.Email = "" })) // its nickname is invisible and stays
	noErr(t, db.Update(System, func(tx *Tx) error {
		return errors.Join(Roles.Delete(tx, 2), Roles.Delete(tx, 5))
	}))
	disktest.Equal(t, "after deletions", clashesOf(t, db),
		slices.DeleteFunc(slices.Clone(all), func(c string) bool {
			return strings.HasPrefix(c, "user email") || c == "role name [2 3]" ||
				c == "role name [4 5]"
		}))
	view(t, db, func(tx *Tx) error {
		disktest.Equal(t, "faults", tx.Verify().Faults, nil)
		return nil
	})
}

// No text is accepted that reads like that of another record, in any unique field.
func TestUniqueTexts_OtherForms(t *testing.T) {
	names := [][2]string{{"Caf\u00e9", "Cafe\u0301"}, {"Straße", "STRASSE"}, {"ΟΔΟΣ", "οδος"},
		{"Ops", "ｏｐｓ"}, {"R D", "R\u00a0 D"}, {"İz", "i\u0307Z"}}
	addresses := [][2]string{{"x@exämple.org", "x@xn--exmple-cua.org"},
		{"x@example.org", "X@example.org."}, {"jos\u00e9@x.org", "jose\u0301@x.org"},
		{"x@例子.中国", "x@例子。中国"}}
	create := map[string]struct {
		pairs [][2]string
		of    func(tx *Tx, i int, s string) error
	}{
		"role.name": {names, func(tx *Tx, _ int, s string) error {
			return Roles.Create(tx, &Role{Name: s, DataScope: ScopeAll})
		}},
		"app_role.name": {names, func(tx *Tx, _ int, s string) error {
			return AppRoles.Create(tx, &AppRole{Name: s})
		}},
		"file_group.name": {names, func(tx *Tx, _ int, s string) error {
			return FileGroups.Create(tx, &FileGroup{Name: s})
		}},
		"user.username": {names, func(tx *Tx, _ int, s string) error {
			return Users.Create(tx, &User{Username: s})
		}},
		"app_user.username": {names, func(tx *Tx, _ int, s string) error {
			return AppUsers.Create(tx, &AppUser{Username: s})
		}},
		"user.email": {addresses, func(tx *Tx, i int, s string) error {
			return Users.Create(tx, &User{Username: fmt.Sprint("u", i), Email: s})
		}},
		"app_user.email": {addresses, func(tx *Tx, i int, s string) error {
			return AppUsers.Create(tx, &AppUser{Username: fmt.Sprint("u", i), Email: s})
		}},
		"link.email": {addresses, func(tx *Tx, i int, s string) error {
			u := &AppUser{Username: fmt.Sprint("p", i), Pending: true}
			return errors.Join(AppUsers.Create(tx, u),
				Links.Create(tx, &Link{
					Purpose:   Registration,
					AppUserID: u.ID,
					Email:     s,
					Tokens:    []LinkToken{},
				}))
		}},
		"dict_item.value": {[][2]string{{"ä", "a\u0308"}}, func(tx *Tx, _ int, s string) error {
			return DictItems.Create(tx, &DictItem{DictID: 1, Label: "L", Value: s})
		}},
	}
	for _, name := range reeve.UniqueTexts() {
		c, found := create[name]
		if !found { // one of a resource without other rules
			c.pairs, c.of = names, func(tx *Tx, _ int, s string) error {
				return createWithText(tx, name, s)
			}
		}

		delete(create, name)
		t.Run(name, func(t *testing.T) {
			for i, pair := range c.pairs {
				db := open(t, t.TempDir(), Options{})
				update(t, db, func(tx *Tx) error {
					return errors.Join(Dicts.Create(tx, &Dict{Code: "d", Name: "D"}),
						c.of(tx, 2*i, pair[0]))
				})
				err := db.Update(System, func(tx *Tx) error { return c.of(tx, 2*i+1, pair[1]) })
				if e := errs.Of(err); e.Kind != errs.Conflict || e.Code != "duplicate" {
					t.Errorf("%q beside %q: %v", pair[1], pair[0], err)
				}
			}
		})
	}

	disktest.Equal(t, "indexes that do not exist", len(create), 0)
}

// createWithText creates a record with nothing but a text in a field, "collection.field".
func createWithText(tx *Tx, name, text string) error {
	collection, field, _ := strings.Cut(name, ".")
	i := slices.IndexFunc(reeve.Tables, func(t kv.Table) bool { return t.Name() == collection })
	create := reflect.ValueOf(reeve.Tables[i]).MethodByName("Create")
	record := reflect.New(create.Type().In(1).Elem())
	if err := json.Unmarshal(fmt.Appendf(nil, "{%q:%q}", field, text), record.Interface()); err != nil {
		return err
	}
	err, _ := create.Call([]reflect.Value{reflect.ValueOf(tx), record})[0].Interface().(error)
	return err
}

// A migration that is killed at any system call is made again by the next start.
func TestSchema19_KilledMigration(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}

	killed := 0
	for _, call := range []string{"pwrite64", "fsync,fdatasync", "renameat,renameat2", "unlinkat"} {
		for n := 1; ; n += disktest.Size(3, 1, 1) {
			dir := schema19(t)
			cmd := exec.CommandContext(t.Context(), "strace", "-f", "-qq", "-o", os.DevNull, "-e",
				"trace="+call,
				"-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, n), os.Args[0])
			cmd.Env = append(os.Environ(), childVar+"=migrate", dirVar+"="+dir)
			out, err := cmd.CombinedOutput()
			if err == nil && string(out) == "done\n" {
				break
			}
			if err == nil || len(out) > 0 {
				t.Fatalf("%s %d: %v: %s", call, n, err, out)
			}

			killed++
			db := opened(t, dir)
			view(t, db, func(tx *Tx) error {
				disktest.Equal(t, fmt.Sprint("faults after ", call, " ", n), tx.Verify().Faults,
					nil)
				ids, err := Users.FindIDs(tx, kv.Query[User]{Search: "muller", Limit: 9})
				disktest.Equal(t, "found", ids, []ID{1})
				return err
			})
			disktest.Equal(t, "clashes", len(clashesOf(t, db)), 11)
		}
	}

	if killed < 10 {
		t.Errorf("it was killed %d times only", killed)
	}
}

// migrateChild opens a directory, until its search texts are up to date. It runs on one OS thread,
// because strace counts system calls per thread.
func migrateChild() int {
	db, err := Open(dirOf(), Options{Version: "2.0", indexFrom: 5})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	for !db.TextsUpToDate() {
		time.Sleep(time.Millisecond)
	}
	if err := db.Close(); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("done")
	return 0
}
