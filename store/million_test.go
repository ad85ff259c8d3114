package store

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"reeve/store/disk/disktest"
	"reeve/store/kv"
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

// millionth returns user i of the million; one in 250,000 has the rare nickname.
func millionth(i int, r *rand.Rand) *User {
	first, last := firstNames[r.IntN(len(firstNames))], lastNames[r.IntN(len(lastNames))]
	name := fmt.Sprintf("%s.%s%d", strings.ToLower(first), strings.ToLower(last), i)
	u := &User{
		Username: name,
		Nickname: first + " " + last,
		Email:    name + "@example.com",
		Mobile:   fmt.Sprintf("+49151%08d", r.IntN(100_000_000)),
		Sex:      int64(r.IntN(3)),
		DeptID:   ID(r.IntN(millionDepts) + 1),
		RoleIDs:  []ID{ID(r.IntN(millionRoles) + 1)},
		Status:   r.IntN(10) > 0,
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

// million creates and closes a database with a million users.
func million(t *testing.T, dir string) {
	t.Helper()
	clock, r := clockAt(frozen()), disktest.Random(t)
	db, err := Open(dir, Options{Clock: func() Time { return Time(clock.Add(1)) }})
	if err != nil {
		t.Fatal(err)
	}

	millionRefs(t, db)
	began := time.Now()
	manyUsers(t, db, r, 0, millionUsers)
	took := time.Since(began)
	waitForIndex(t, db)
	t.Logf("the search index has everything %v later",
		(time.Since(began) - took).Round(time.Millisecond))
	shut(t, db)
	info, err := os.Stat(filepath.Join(dir, dataName))
	if err != nil {
		t.Fatal(err)
	}

	t.Logf("built %d users in %v (%.0f a second), %d MiB and %d MiB of index", millionUsers,
		took.Round(time.Second), millionUsers/took.Seconds(), info.Size()>>20,
		indexSize(t, dir)>>20)
}

// millionRefs creates the records that the users refer to.
func millionRefs(t *testing.T, db *DB) {
	t.Helper()
	update(t, db, func(tx *Tx) error {
		for i := range millionRoles {
			if err := Roles.Create(tx, &Role{
				Name:      fmt.Sprint("Role ", i),
				Status:    true,
				DataScope: ScopeTree,
			}); err != nil {
				return err
			}
		}
		for i := range millionDepts {
			if err := Depts.Create(tx, &Dept{
				ParentID: ID(i / 10),
				Name:     fmt.Sprint("Department ", i),
				Status:   true,
			}); err != nil {
				return err
			}
		}
		return nil
	})
}

// manyUsers creates users from up to but not including to.
func manyUsers(t *testing.T, db *DB, r *rand.Rand, from, to int) {
	t.Helper()
	for i := from; i < to; i += millionBatch {
		update(t, db, func(tx *Tx) error {
			for j := i; j < i+millionBatch; j++ {
				if err := Users.Create(tx, millionth(j, r)); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// waitForIndex waits until the search index of users has nearly all changes.
func waitForIndex(t *testing.T, db *DB) {
	t.Helper()
	for until := time.Now().Add(10 * time.Minute); time.Now().Before(until); time.Sleep(time.Millisecond) {
		for _, x := range db.SearchIndexes() {
			if x.Collection == Users.Name() && x.Err == nil && x.Pending < 32 {
				return
			}
		}
	}
	t.Fatalf("the index does not follow: %+v", db.SearchIndexes())
}

func indexSize(t *testing.T, dir string) (n int64) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, "search"))
	noErr(t, err)
	for _, e := range entries {
		info, err := e.Info()
		noErr(t, err)
		n += info.Size()
	}
	return n
}

// TestIndexedWrites compares writes of users with a search index, including the time to index
// them, with writes of users without one.
func TestIndexedWrites(t *testing.T) {
	if os.Getenv("REEVE_TEST_LONG") != "1" {
		t.Skip("hundreds of thousands of users are made only under REEVE_TEST_LONG=1")
	}

	const users, rounds = 200_000, 3
	var creates, updates, edits []float64
	for range rounds {
		var took [2][3]time.Duration
		for i, from := range []int{1 << 30, 0} {
			dir := t.TempDir()
			db, err := Open(dir, Options{indexFrom: from})
			noErr(t, err)
			millionRefs(t, db)
			r := rand.New(rand.NewPCG(1, 2))
			manyUsers(t, db, r, 0, 2*millionBatch)
			settle := func() {
				if from == 0 {
					waitForIndex(t, db)
				}
			}
			settle()
			began := time.Now()
			manyUsers(t, db, r, 2*millionBatch, users)
			settle()
			took[i][0] = time.Since(began)
			for j, edit := range []func(*User){func(u *User) {
				u.Sex = (u.Sex + 1) % 3
			}, func(u *User) { u.Nickname += "x" }} {
				began = time.Now()
				for id := ID(1); id < users; id += millionBatch {
					update(t, db, func(tx *Tx) error {
						for n := range ID(millionBatch) {
							if _, err := Users.Update(tx, id+n, func(u *User) error {
								edit(u)
								return nil
							}); err != nil {
								return err
							}
						}
						return nil
					})
				}

				settle()
				took[i][1+j] = time.Since(began)
			}

			noErr(t, db.Close())
		}

		creates = append(creates, float64(took[0][0])/float64(took[1][0]))
		updates = append(updates, float64(took[0][1])/float64(took[1][1]))
		edits = append(edits, float64(took[0][2])/float64(took[1][2]))
	}

	for what, all := range map[string][]float64{
		"creates":                  creates,
		"updates of another field": updates,
		"updates of a text":        edits,
	} {
		slices.Sort(all)
		t.Logf("%s with an index: %.2f of the rate without (%.2f to %.2f)", what, all[len(all)/2],
			all[0], all[len(all)-1])
	}
}

// median returns the median time of runs calls of fn.
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
	if err := exec.Command("sync").Run(); err != nil {
		t.Log(err) // without sync, the setup is still being written during the measurement
	}

	var db *DB
	log := func(what string, d time.Duration) {
		t.Logf("%-60s %12v", what, d.Round(time.Microsecond))
	}
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

	waitForIndex(t, db)
	log("open until everything is checked", median(t, 1, func() error {
		for db.Checking() {
			time.Sleep(time.Millisecond)
		}
		return nil
	}))
	var took time.Duration // time of the last find
	find := func(what string, runs int, q kv.Query[User]) (total int) {
		q.Limit = 10
		took = median(t, runs, func() error {
			return db.View(System, func(tx *Tx) error {
				page, n, err := Users.Find(tx, q)
				if total = n; err == nil && len(page) != min(10, max(0, n-q.Offset)) {
					err = fmt.Errorf("%s: %d records on the page, %d in all", what, len(page), n)
				}
				return err
			})
		})
		log(fmt.Sprintf("%s (%d match)", what, total), took)
		return total
	}
	for what, where := range map[string][]kv.Condition{
		"unfiltered": nil,
		"dept_id":    {UserByDept.AnyOf(500)}, "40 dept_ids": {UserByDept.AnyOf(someIDs(40)...)},
		"scope of 40 dept_ids or self": {UserByDept.AnyOf(someIDs(40)...).OrIDs(7)},
		"status":                       {UserByStatus.AnyOf("1")},
		"status 0":                     {UserByStatus.AnyOf("0")},
		"role":                         {UserByRole.AnyOf(3)},
		"3 roles":                      {UserByRole.AnyOf(3, 4, 5)},
		"dept and status":              {UserByDept.AnyOf(500), UserByStatus.AnyOf("1")},
	} {
		for sorted, order := range map[string]kv.Order[User]{
			"id":         {},
			"username":   UserByName.Order(),
			"login_time": UserByLogin.Order(),
		} {
			for _, page := range []int{1, 100} {
				find(fmt.Sprintf("%s by %s, page %d", what, sorted, page), 5, kv.Query[User]{
					Where:      where,
					Order:      order,
					Descending: sorted == "login_time",
					Offset:     (page - 1) * 10,
				})
			}
		}
	}

	log("get", median(t, 1001, func() error {
		return db.View(System, func(tx *Tx) error {
			_, err := Users.Get(tx, ID(rand.IntN(millionUsers)+1))
			return err
		})
	}))
	made := 0
	log("create", median(t, 101, func() error {
		made++
		u := &User{
			Username: fmt.Sprint("new", made),
			Nickname: "New",
			DeptID:   5,
			RoleIDs:  []ID{4},
			Status:   true,
		}
		return db.Update(System, func(tx *Tx) error { return Users.Create(tx, u) })
	}))
	waitForIndex(t, db)
	_, missing := exec.LookPath("sqlite3")
	for _, part := range []string{"rumpel", "chen", "nobody-has-this"} {
		find("search "+part+" in status 1, by username", 5, kv.Query[User]{
			Search: part,
			Where:  []kv.Condition{UserByStatus.AnyOf("1")},
			Order:  UserByName.Order(),
		})
		n := find("search "+part+", page 1", 51, kv.Query[User]{Search: part})
		if missing == nil {
			rows, count, page := sqliteSearch(t, db, dir, part)
			disktest.Equal(t, "what both find of "+part, n, rows)
			log("sqlite3 FTS5 trigram "+part+", count and page", count+page)
			if took > 2*(count+page) {
				t.Errorf("search %s took %v, sqlite3 %v", part, took, count+page)
			}
		}
	}
}

func someIDs(n int) (ids []ID) {
	for i := range n {
		ids = append(ids, ID(i*7+1))
	}
	return ids
}

// sqliteSearch searches the same rows in sqlite3 with a trigram index (FTS5). It returns the
// number of matches and the median times to count them and to get ten.
func sqliteSearch(t *testing.T, db *DB, dir, part string) (rows int, count, page time.Duration) {
	t.Helper()
	path := filepath.Join(dir, "users.sqlite")
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		sqlite(t, path,
			"CREATE TABLE user(id INTEGER PRIMARY KEY, username TEXT, nickname TEXT, email TEXT, mobile TEXT);\n.mode csv\n.import "+userCSV(t, db, dir)+" user\n"+
				"CREATE VIRTUAL TABLE found USING fts5(username, nickname, email, mobile, content=user, content_rowid=id, tokenize=trigram);\n"+
				"INSERT INTO found(found) VALUES('rebuild');\nINSERT INTO found(found) VALUES('optimize');\n")
	}
	where := ` FROM found WHERE found MATCH '"` + part + `"'`
	rows, err := strconv.Atoi(strings.TrimSpace(sqlite(t, path, "SELECT count(*)"+where+";\n")))
	noErr(t, err)
	return rows, sqliteTook(t, path, "SELECT count(*)"+where+";\n"), sqliteTook(t, path,
		"SELECT rowid, *"+where+" ORDER BY rowid LIMIT 10;\n")
}

// sqliteTook returns the median time of a statement in sqlite3, without the time to start it.
func sqliteTook(t *testing.T, path, statement string) time.Duration {
	t.Helper()
	const times = 100
	start := median(t, 5, func() error {
		sqlite(t, path, "SELECT count(*) FROM (SELECT 1 FROM user LIMIT 1);\n")
		return nil
	})
	all := median(t, 5, func() error {
		sqlite(t, path, strings.Repeat(statement, times))
		return nil
	})
	return max(0, all-start) / times
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
