package kv

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"reeve/store/blob"
	"reeve/store/disk/disktest"
	"reeve/store/fold"
)

// The office is the test schema with files, secrets and sessions, which the zoo does not have.

// System is the principal of most tests.
var System = engine{}

// File has content, which other files may share.
type File struct {
	Ident
	Name   string      `json:"name"`
	Size   int64       `json:"size"`
	Digest blob.Digest `json:"digest"`
	Versioned
}

// Avatar is the photo of a user.
type Avatar struct {
	Ident
	UserID ID          `json:"user_id"`
	Digest blob.Digest `json:"digest"`
	Timestamps
}

// User has a unique name and a list of departments, which a deleted department is removed from.
type User struct {
	Ident
	Username string `json:"username"`
	Nickname string `json:"nickname"`
	DeptIDs  []ID   `json:"dept_ids"`
	Versioned
}

// Dept is a department.
type Dept struct {
	Ident
	Name string `json:"name"`
	Sort int64  `json:"sort"`
	Versioned
}

// Session ends when the database is restored.
type Session struct {
	Ident
	UserID ID     `json:"user_id"`
	Text   string `json:"text"`
	Timestamps
}

// Visit is kept when its user is deleted.
type Visit struct {
	Ident
	UserID ID     `json:"user_id"`
	Result string `json:"result"`
	Timestamps
}

// Secret has a sealed value.
type Secret struct {
	Ident
	Name   string `json:"name"`
	Sealed Sealed `json:"sealed"`
	Timestamps
}

var (
	Files        = NewCollection[File]("file")
	FileByDigest = NewMany(Files, "digest", func(f *File) []string {
		return []string{f.Digest.String()}
	})
	_ = Files.Content(func(f *File) blob.Digest {
		return f.Digest
	}, func(f *File) int64 { return f.Size }, FileByDigest)

	Depts = NewCollection[Dept]("dept")

	Users      = NewCollection[User]("user")
	UserByName = NewUnique(Users, "username", func(u *User) string {
		return fold.Lower(u.Username)
	})
	UserByDept = NewDetachingRefs(Users, "dept_ids", Depts, func(u *User) *[]ID {
		return &u.DeptIDs
	})
	UserSearch = NewSearch(Users, func(u *User) []string {
		return []string{u.Username, u.Nickname}
	})

	Avatars      = NewCollection[Avatar]("avatar")
	AvatarByUser = NewRef(Avatars, "user_id", Users, func(a *Avatar) ID {
		return a.UserID
	}, Cascade)
	AvatarByDigest = NewMany(Avatars, "digest", func(a *Avatar) []string {
		return []string{a.Digest.String()}
	})
	_ = Avatars.Content(func(a *Avatar) blob.Digest {
		return a.Digest
	}, nil, AvatarByDigest)

	Sessions      = NewCollection[Session]("session")
	SessionByUser = NewRef(Sessions, "user_id", Users, func(s *Session) ID {
		return s.UserID
	}, Cascade)

	Visits        = NewCollection[Visit]("visit")
	VisitByUser   = NewRef(Visits, "user_id", Users, func(v *Visit) ID { return v.UserID }, Dangle)
	VisitByResult = NewMany(Visits, "result", func(v *Visit) []string {
		return []string{v.Result}
	})
	VisitByCreated = NewMany(Visits, "created_at", func(v *Visit) []Time {
		return []Time{v.CreatedAt}
	})

	Secrets = NewCollection[Secret]("secret")
	_       = Secrets.Sealed(func(s *Secret) *Sealed {
		return &s.Sealed
	}, secretPlace, func(_ *Tx, s *Secret) (string, error) { return "secret " + s.Name, nil })
)

var office = Schema{
	Tables:     []Table{Installs, Depts, Users, Avatars, Files, Sessions, Visits, Secrets},
	Restored:   endSessions,
	Migrations: []Migration{{"nothing", func(*Tx) error { return nil }}},
}

func endSessions(tx *Tx) error {
	all, err := ReadRecords(tx, Sessions)
	for id := range all {
		err = errors.Join(err, Sessions.Delete(tx, id))
	}
	return err
}

func secretPlace(s *Secret) string { return "secret " + s.ID.String() }

// createSecret stores a secret whose value is sealed for its ID.
func createSecret(tx *Tx, name, text string) error {
	s := &Secret{Name: name}
	if err := Secrets.Create(tx, s); err != nil {
		return err
	}
	return setSecret(tx, s.ID, text)
}

func setSecret(tx *Tx, id ID, text string) error {
	_, err := Secrets.Update(tx, id, func(s *Secret) (err error) {
		s.Sealed, err = tx.Seal(secretPlace(s), text)
		return err
	})
	return err
}

func secretText(tx *Tx, id ID) (string, error) {
	s, err := Secrets.Get(tx, id)
	if err != nil {
		return "", err
	}
	return tx.Unseal(secretPlace(s), s.Sealed)
}

// realistic creates and closes a database of the office with a history: many commits with
// updates and deletions, so that older versions of pages are still in the file.
func realistic(t testing.TB, dir string) {
	t.Helper()
	db := open(t, dir, Options{Schema: &office})
	run := func(n int, fn func(tx *Tx, i int) error) {
		t.Helper()
		for i := range n {
			update(t, db, func(tx *Tx) error { return fn(tx, i) })
		}
	}
	run(20, func(tx *Tx, i int) error {
		return errors.Join(Depts.Create(tx,
			&Dept{Name: fmt.Sprint("dept ", i), Sort: int64(i % 3)}),
			createSecret(tx, fmt.Sprint(i), strings.Repeat("text ", i)))
	})
	run(disktest.Size(80, 80, 80), func(tx *Tx, i int) error {
		u := &User{
			Username: fmt.Sprint("user ", i),
			Nickname: strings.Repeat("nick ", i%9),
			DeptIDs:  []ID{ID(i%10 + 1), ID(i%7 + 11)},
		}
		if err := Users.Create(tx, u); err != nil {
			return err
		}
		return errors.Join(Sessions.Create(tx, &Session{
			UserID: u.ID,
			Text:   strings.Repeat("agent ", 8),
		}), Sessions.Create(tx, &Session{UserID: u.ID}))
	})
	run(25, func(tx *Tx, i int) error {
		_, err := Users.Update(tx, ID(3*i+1), func(u *User) error {
			u.Nickname, u.DeptIDs = "changed", []ID{ID(i%3 + 1)}
			return nil
		})
		_, err2 := Depts.Update(tx, ID(i%20+1), func(d *Dept) error {
			d.Name += " changed"
			return nil
		})
		return errors.Join(err, err2, setSecret(tx, ID(i%20+1), fmt.Sprint("text ", i)))
	})
	run(15, func(tx *Tx, i int) error {
		err := errors.Join(Users.Delete(tx, ID(5*i+1)), Sessions.Delete(tx, ID(10*i+4)))
		if i < 4 {
			err = errors.Join(err, Depts.Delete(tx, ID(18-i)), Secrets.Delete(tx, ID(2*i+2)))
		}
		return err
	})
	shut(t, db)
}
