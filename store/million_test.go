package store

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	millionUsers = 1_000_000
	millionDepts = 1000
	millionRoles = 20
	millionBatch = 5000
)

var (
	firstNames = strings.Fields("Ada Alan Amir Anna Boris Chloe Dana Erik Fatima Grace Hugo Ines Ivan Jana Kofi Lena Mei Nils Olga Pablo Quinn Rosa Sven Tomas Uma Vera Wei Xenia Yusuf Zoe")
	lastNames  = strings.Fields("Abbas Berg Chen Diaz Evans Fischer Garcia Haas Ito Jensen Kim Lopez Meyer Novak Okafor Petrov Quist Rossi Silva Tanaka Ueda Vogel Weber Xu Yilmaz Zhang")
)

// millionth is user i of the million; one in 250,000 has the rare nickname.
func millionth(i int, r *rand.Rand) *User {
	first, last := firstNames[r.IntN(len(firstNames))], lastNames[r.IntN(len(lastNames))]
	name := fmt.Sprintf("%s.%s%d", strings.ToLower(first), strings.ToLower(last), i)
	u := &User{
		Username: name, Nickname: first + " " + last, Email: name + "@example.com", Mobile: fmt.Sprintf("+49151%08d", r.IntN(100_000_000)),
		Sex: int64(r.IntN(3)), DeptID: ID(r.IntN(millionDepts) + 1), RoleIDs: []ID{ID(r.IntN(millionRoles) + 1)}, Status: r.IntN(10) > 0,
	}
	if r.IntN(4) > 0 {
		u.LoginTime = frozen() + Time(r.Int64N(1_000_000_000_000))
	}
	if r.IntN(5) == 0 {
		u.RoleIDs = append(u.RoleIDs, ID(r.IntN(millionRoles)+1))
	}
	if i%250_000 == 77 {
		u.Nickname = "Rumpelstilzchen"
	}
	return u
}

// million builds a database of a million users and closes it.
func million(t *testing.T, dir string) {
	t.Helper()
	clock, r := clockAt(frozen()), random(t)
	db, err := Open(dir, Options{clock: func() Time { return Time(clock.Add(1)) }})
	if err != nil {
		t.Fatal(err)
	}
	update(t, db, func(tx *Tx) error {
		for i := range millionRoles {
			if err := Roles.Create(tx, &Role{Name: fmt.Sprint("Role ", i), Status: true, DataScope: ScopeTree}); err != nil {
				return err
			}
		}
		for i := range millionDepts {
			if err := Depts.Create(tx, &Dept{ParentID: ID(i / 10), Name: fmt.Sprint("Department ", i), Status: true}); err != nil {
				return err
			}
		}
		return nil
	})
	began := time.Now()
	for i := 0; i < millionUsers; i += millionBatch {
		update(t, db, func(tx *Tx) error {
			for j := i; j < i+millionBatch; j++ {
				if err := Users.Create(tx, millionth(j, r)); err != nil {
					return err
				}
			}
			return nil
		})
		if (i+millionBatch)%250_000 == 0 {
			t.Logf("%d users after %v", i+millionBatch, time.Since(began).Round(time.Second))
		}
	}
	took := time.Since(began)
	shut(t, db)
	info, err := os.Stat(filepath.Join(dir, dataName))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("built %d users in %v (%.0f a second), %d MiB", millionUsers, took.Round(time.Second), millionUsers/took.Seconds(), info.Size()>>20)
}

// median is how long fn takes in the middle of some runs.
func median(t *testing.T, runs int, fn func() error) time.Duration {
	t.Helper()
	var took []time.Duration
	for range runs {
		began := time.Now()
		if err := fn(); err != nil {
			t.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took[len(took)/2]
}

func TestMillionUsers(t *testing.T) {
	if os.Getenv("REEVE_TEST_LONG") != "1" {
		t.Skip("a million users are made only under REEVE_TEST_LONG=1")
	}
	dir := t.TempDir()
	million(t, dir)
	var db *DB
	log := func(what string, d time.Duration) { t.Logf("%-60s %12v", what, d.Round(time.Microsecond)) }
	log("open", median(t, 3, func() (err error) {
		if db != nil {
			if err := db.Close(); err != nil {
				return err
			}
		}
		db, err = Open(dir, Options{})
		return err
	}))
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	find := func(what string, runs int, q Query[User]) (total int) {
		q.Limit = 10
		d := median(t, runs, func() error {
			return db.View(System, func(tx *Tx) error {
				page, n, err := Users.Find(tx, q)
				if total = n; err == nil && len(page) != min(10, max(0, n-q.Offset)) {
					err = fmt.Errorf("%s: %d records on the page, %d in all", what, len(page), n)
				}
				return err
			})
		})
		log(fmt.Sprintf("%s (%d match)", what, total), d)
		return total
	}
	for what, where := range map[string][]Condition{
		"unfiltered": nil,
		"dept_id":    {UserByDept.AnyOf(500)}, "40 dept_ids": {UserByDept.AnyOf(someIDs(40)...)},
		"scope of 40 dept_ids or self": {UserByDept.AnyOf(someIDs(40)...).OrIDs(7)},
		"status":                       {UserByStatus.AnyOf("1")}, "status 0": {UserByStatus.AnyOf("0")},
		"role": {UserByRole.AnyOf(3)}, "3 roles": {UserByRole.AnyOf(3, 4, 5)}, "dept and status": {UserByDept.AnyOf(500), UserByStatus.AnyOf("1")},
	} {
		for sorted, order := range map[string]Order[User]{"id": {}, "username": UserByName.Order(), "login_time": UserByLogin.Order()} {
			for _, page := range []int{1, 100} {
				find(fmt.Sprintf("%s by %s, page %d", what, sorted, page), 5, Query[User]{Where: where, Order: order, Descending: sorted == "login_time", Offset: (page - 1) * 10})
			}
		}
	}
	log("get", median(t, 1001, func() error {
		return db.View(System, func(tx *Tx) error { _, err := Users.Get(tx, ID(rand.IntN(millionUsers)+1)); return err })
	}))
	made := 0
	log("create", median(t, 101, func() error {
		made++
		u := &User{Username: fmt.Sprint("new", made), Nickname: "New", DeptID: 5, RoleIDs: []ID{4}, Status: true}
		return db.Update(System, func(tx *Tx) error { return Users.Create(tx, u) })
	}))
	_, missing := exec.LookPath("sqlite3")
	for _, part := range []string{"rumpel", "chen", "nobody-has-this"} {
		n := find("search "+part+", page 1", 7, Query[User]{Search: part})
		find("search "+part+" in status 1, by username", 5, Query[User]{Search: part, Where: []Condition{UserByStatus.AnyOf("1")}, Order: UserByName.Order()})
		if missing == nil {
			rows, count, page := sqliteSearch(t, db, dir, part)
			equal(t, "what both find of "+part, n, rows)
			log("sqlite3 LIKE "+part+", count and page", count+page)
		}
	}
}

func someIDs(n int) (ids []ID) {
	for i := range n {
		ids = append(ids, ID(i*7+1))
	}
	return ids
}

// sqliteSearch asks sqlite3 for a part in the same rows and returns how many it
// finds and how long it takes, in the middle, to count them and to get ten.
func sqliteSearch(t *testing.T, db *DB, dir, part string) (rows int, count, page time.Duration) {
	t.Helper()
	path := filepath.Join(dir, "users.sqlite")
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		sqlite(t, path, "CREATE TABLE user(id INTEGER PRIMARY KEY, username TEXT, nickname TEXT, email TEXT, mobile TEXT);\n.mode csv\n.import "+userCSV(t, db, dir)+" user\n")
	}
	where := " FROM user WHERE username LIKE '%X%' OR nickname LIKE '%X%' OR email LIKE '%X%' OR mobile LIKE '%X%'"
	where = strings.ReplaceAll(where, "X", part)
	asked := sqlite(t, path, ".timer on\n"+strings.Repeat("SELECT 'rows', count(*)"+where+";\n", 5)+
		strings.Repeat("SELECT *"+where+" ORDER BY id LIMIT 10;\n", 5))
	for _, m := range regexp.MustCompile(`rows\|(\d+)`).FindAllStringSubmatch(asked, 1) {
		rows, _ = strconv.Atoi(m[1])
	}
	var took []time.Duration
	for _, m := range regexp.MustCompile(`real ([\d.]+)`).FindAllStringSubmatch(asked, -1) {
		seconds, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		took = append(took, time.Duration(seconds*float64(time.Second)))
	}
	if len(took) != 10 {
		t.Fatalf("sqlite3 told %d times: %.500s", len(took), asked)
	}
	slices.Sort(took[:5])
	slices.Sort(took[5:])
	return rows, took[2], took[7]
}

func sqlite(t *testing.T, path, script string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sqlite3", path)
	cmd.Stdin = strings.NewReader(script)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("sqlite3: %v: %.500s", err, out)
	}
	return string(out)
}

func userCSV(t *testing.T, db *DB, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "users.csv")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(file)
	view(t, db, func(tx *Tx) error {
		for u, err := range Users.All(tx) {
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "%d,%s,%s,%s,%s\n", u.ID, u.Username, u.Nickname, u.Email, u.Mobile)
		}
		return nil
	})
	if err := errors.Join(w.Flush(), file.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}
