package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"reeve/store/disk/disktest"
	"reeve/store/errs"
	"reeve/store/kv"
)

// reading is the results of every query on a database: for each, the records as JSON and the
// error.
type reading struct {
	answers map[string][]string
	failed  map[string]error
}

func (r *reading) ask(db *DB, question string, fn func(tx *Tx) ([]string, error)) {
	err := db.View(System, func(tx *Tx) error {
		answers, err := fn(tx)
		r.answers[question] = answers
		return err
	})
	if err != nil && !errs.Is(err, errs.NotFound) {
		r.failed[question] = err
	}
}

// list collects the records of an iterator. It continues after an error.
func list[T any](walk func(func(*T, error) bool)) (answers []string, failed error) {
	walk(func(v *T, err error) bool {
		if err != nil {
			failed = err
			return true
		}
		b, err := json.Marshal(v)
		answers, failed = append(answers, string(b)), either(failed, err)
		return true
	})
	return answers, failed
}

func either(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

func one[T any](v *T, err error) ([]string, error) {
	return list(func(yield func(*T, error) bool) { yield(v, err) })
}

func askCollection[T any](r *reading, db *DB, c *kv.Collection[T], ids int) {
	r.ask(db, "all of "+c.Name(), func(tx *Tx) ([]string, error) { return list(c.All(tx)) })
	r.ask(db, "count of "+c.Name(), func(tx *Tx) ([]string, error) { return counted(c.Count(tx)) })
	for id := range ID(ids) {
		r.ask(db, fmt.Sprint(c.Name(), " ", id+1), func(tx *Tx) ([]string, error) {
			return one(c.Get(tx, id+1))
		})
	}
}

// counted returns a count as a result; 0 is no result.
func counted(n int, err error) ([]string, error) {
	if n == 0 {
		return nil, err
	}
	return []string{strconv.Itoa(n)}, err
}

func askUnique[T any](r *reading, db *DB, u *kv.Unique[T], values ...string) {
	for _, value := range values {
		r.ask(db, u.Name()+" "+value, func(tx *Tx) ([]string, error) {
			return one(u.Get(tx, value))
		})
	}
}

func askMany[T any, K kv.Key](r *reading, db *DB, m *kv.Many[T, K], values ...K) {
	for _, value := range values {
		r.ask(db, fmt.Sprint(m.Name(), " ", value), func(tx *Tx) ([]string, error) {
			return list(m.All(tx, value))
		})
		r.ask(db, fmt.Sprint(m.Name(), " count ", value), func(tx *Tx) ([]string, error) {
			return counted(m.Count(tx, value))
		})
	}
}

// readAll runs every query on a database that realistic made.
func readAll(db *DB) *reading {
	r := &reading{map[string][]string{}, map[string]error{}}
	ids, names, values := []ID{}, map[string][]string{}, []string{}
	for i := range 70 {
		ids = append(ids, ID(i+1))
		values = append(values, fmt.Sprintf("%d.item %d", i/2+1, i))
		for _, kind := range []string{"user ", "user@", "role ", "perm ", "group", "token ",
			"app ", "dict "} {
			names[kind] = append(names[kind], kind+strconv.Itoa(i))
		}
	}

	askCollection(r, db, Installs, 2)
	askCollection(r, db, Permissions, 40)
	askCollection(r, db, Roles, 20)
	askCollection(r, db, LoginLogs, 70)
	askCollection(r, db, Depts, 15)
	askCollection(r, db, Users, 70)
	askCollection(r, db, PasswordHashes, 70)
	askCollection(r, db, AppUsers, 10)
	askCollection(r, db, Sessions, 70)
	askCollection(r, db, SessionTokens, 70)
	askCollection(r, db, SettingGroups, 6)
	askCollection(r, db, Settings, 40)
	askCollection(r, db, SettingSecrets, 40)
	askCollection(r, db, Dicts, 15)
	askCollection(r, db, DictItems, 15)
	askUnique(r, db, DictByCode, names["dict "]...)
	askUnique(r, db, DictItemByValue, values...)
	askMany(r, db, DictItemByDict.Many, ids...)
	askUnique(r, db, PermissionByKey, names["perm "]...)
	askUnique(r, db, RoleByName, names["role "]...)
	askUnique(r, db, UserByName, names["user "]...)
	askUnique(r, db, UserByEmail, names["user@"]...)
	askUnique(r, db, AppUserByName, names["app "]...)
	askUnique(r, db, TokenByHash, names["token "]...)
	askUnique(r, db, SettingGroupByKey, names["group"]...)
	askMany(r, db, PermissionByParent.Many, ids...)
	askMany(r, db, RoleByRule.Many, ids...)
	askMany(r, db, DeptByParent.Many, ids...)
	askMany(r, db, UserByDept.Many, ids...)
	askMany(r, db, UserByRole.Many, ids...)
	askMany(r, db, RoleByDept.Many, ids...)
	askMany(r, db, RoleByGrant.Many, ids...)
	askMany(r, db, LoginLogByUser.Many, ids...)
	askMany(r, db, UserByStatus, "0", "1")
	askMany(r, db, UserBySex, "0", "1", "2")
	askMany(r, db, RoleBySort, 0, 1, 2)
	askMany(r, db, RoleByStatus, "0", "1")
	askMany(r, db, AppUserByStatus, "0", "1")
	askMany(r, db, LoginLogByResult, loginResults...)
	askMany(r, db, LoginLogByRealm, "admin", "app")
	askPeople(r, db)
	askMany(r, db, HashByUser.Many, ids...)
	askMany(r, db, SessionByUser.Many, ids...)
	askMany(r, db, SessionByAppUser.Many, ids...)
	askMany(r, db, TokenBySession.Many, ids...)
	askMany(r, db, SettingByGroup.Many, ids...)
	askMany(r, db, SecretBySetting.Many, ids...)
	for i := range 70 {
		askMany(r, db, SessionByExpiry, farOff+Time(i))
	}

	for id := range ID(40) {
		r.ask(db, fmt.Sprint("secret ", id+1), func(tx *Tx) ([]string, error) {
			text, err := SettingSecretText(tx, id+1)
			if text == "" {
				return nil, err
			}
			return []string{text}, err
		})
	}

	r.ask(db, "caches", func(tx *Tx) ([]string, error) {
		trees, settings := PermissionTree.Get(tx), SettingCache.Get(tx)
		all, err1 := trees.All()
		parents, err2 := trees.Parents()
		values, err3 := settings.Values()
		dicts, err4 := DictCache.Get(tx).Open()
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			return nil, err
		}
		return []string{string(all), string(parents), string(values.Effective), SiteTitle.Get(tx),
			string(dicts.JSON)}, nil
	})
	return r
}

// compare reports whether results differ from truth, and which are wrong: neither correct, nor
// an error, nor incomplete.
func (r *reading) compare(truth *reading) (differs bool, wrong []string) {
	for question, want := range truth.answers {
		got := r.answers[question]
		differs = differs || r.failed[question] != nil || len(got) < len(want)
		rest := want
		for _, answer := range got {
			at := slices.Index(rest, answer)
			if at < 0 {
				wrong = append(wrong,
					fmt.Sprintf("%s: got %.300s, want %.600q", question, answer, want))
				break
			}
			rest = rest[at+1:]
		}
	}
	return differs || len(wrong) > 0, wrong
}

// flipsChild flips bits in copies of a file, one at a time, and prints the results. It is a
// process of its own, because a flipped bit could hang or end it.
func flipsChild() int {
	from, dir := dirOf(), filepath.Join(dirOf(), os.Getenv(modeVar))
	seed, err1 := strconv.ParseUint(os.Getenv(modeVar), 10, 64)
	count, err2 := strconv.Atoi(os.Getenv("REEVE_TEST_COUNT"))
	clean, err3 := os.ReadFile(filepath.Join(from, dataName))
	key, err4 := os.ReadFile(filepath.Join(from, keyName))
	for _, err := range []error{err1, err2, err3, err4, os.Mkdir(dir, 0o700),
		os.WriteFile(filepath.Join(dir, keyName), key, 0o600)} {
		if err != nil {
			fmt.Println("FAIL", err)
			return 1
		}
	}

	put := func(b []byte) error { return os.WriteFile(filepath.Join(dir, dataName), b, 0o600) }
	var truth *reading
	if err := put(clean); err != nil {
		fmt.Println("FAIL", err)
		return 1
	}
	if db, err := Open(dir, Options{}); err != nil {
		fmt.Println("FAIL", err)
		return 1
	} else if truth = readAll(db); len(truth.failed) > 0 || db.Close() != nil {
		fmt.Println("FAIL", truth.failed)
		return 1
	}

	r := rand.New(rand.NewPCG(seed, 1))
	for range count {
		at := r.IntN(len(clean))
		for r.IntN(3) > 0 && clean[at] == 0 { // most of a file is zeros
			at = r.IntN(len(clean))
		}
		b := slices.Clone(clean)
		b[at] ^= 1 << r.IntN(8)
		fmt.Printf("byte %d (page %d+%d) %#x for %#x: ", at, at/4096, at%4096, b[at], clean[at])
		if err := put(b); err != nil {
			fmt.Println("FAIL", err)
			return 1
		}
		fmt.Println(tryFlipped(dir, string(b), truth))
	}

	return 0
}

func tryFlipped(dir, before string, truth *reading) string {
	report, err := VerifyDir(dir, Options{})
	if err != nil {
		return "FAIL verify: " + err.Error()
	}
	if after, err := os.ReadFile(filepath.Join(dir, dataName)); err != nil ||
		string(after) != before {
		return "FAIL verifying changed the file"
	}

	told := len(report.Faults) > 0
	db, err := Open(dir, Options{})
	switch {
	case err != nil && strings.Contains(err.Error(), "\n"):
		return fmt.Sprintf("FAIL refused in several lines: %q", err)
	case err != nil && !told:
		return "FAIL refused, and verify finds nothing: " + err.Error()
	case err != nil:
		return "refused"
	}

	defer db.Close()
	differs, wrong := readAll(db).compare(truth)
	if slices.ContainsFunc(db.Warnings(), func(text string) bool {
		return strings.Contains(text, "; it was removed")
	}) {
		wrong = slices.DeleteFunc(wrong, func(text string) bool {
			return strings.HasPrefix(text, "count of session")
		})
	}

	switch {
	case len(wrong) > 0:
		return "FAIL wrong: " + strings.Join(wrong, "; ")
	case differs && !told:
		return "FAIL reads differ, and verify finds nothing"
	case differs:
		return "differs"
	case told:
		return "told"
	}

	return "harmless"
}

func TestFlippedBits(t *testing.T) {
	dir := t.TempDir()
	realistic(t, dir)
	r, outcomes := disktest.Random(t), map[string]int{}
	total := disktest.Size(60, 200, 5000)
	batch := min(total, 250)
	hit := func() bool { return outcomes["refused"] > 0 && outcomes["differs"] > 0 }
	for done := 0; done < total || !hit() && done < 10*total; done += batch { // a few flips can all miss
		out, err := child(t, "flips", 5*time.Minute, dirVar+"="+dir,
			modeVar+"="+strconv.FormatUint(r.Uint64(), 10),
			"REEVE_TEST_COUNT="+strconv.Itoa(batch))
		if err != nil {
			t.Errorf("the reader hung or crashed: %v: …%s", err, out[max(0, len(out)-3000):])
		}
		for line := range strings.Lines(out) {
			_, outcome, _ := strings.Cut(strings.TrimSpace(line), ": ")
			if strings.HasPrefix(outcome, "FAIL") || strings.HasPrefix(line, "FAIL") {
				t.Error(line)
			}
			outcomes[strings.SplitN(outcome, " ", 2)[0]]++
		}
	}

	t.Logf("outcomes: %v", outcomes)
	if !hit() {
		t.Errorf("the flips hit nothing: %v", outcomes)
	}
}
