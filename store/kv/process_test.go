package kv

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"reeve/store/disk/disktest"
)

const dirVar, modeVar = "REEVE_TEST_DIR", "REEVE_TEST_MODE"

// openerChild opens a directory that may be in use. In the modes write and compact it goes on to
// write, and prints each number that was answered, until it is killed; in mode compact it is
// compacted at the same time.
func openerChild() int {
	db, err := Open(dirOf(), Options{Schema: loggedZoo(), drainFrom: 20})
	if err != nil {
		var used *InUseError
		fmt.Println(errors.As(err, &used), err)
		return 1
	}
	switch os.Getenv(modeVar) {
	case "compact":
		go compactAlways(db)
	case "write":
	default:
		return 0
	}

	for i := 0; ; i++ {
		name := fmt.Sprint("beast ", i)
		if err := db.Update(System, createBeast(name)); err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Println(i)
	}
}

func TestOpen_SecondOpenerRefused(t *testing.T) {
	dir := t.TempDir()
	db := open(t, dir, Options{Schema: loggedZoo()})
	update(t, db, createBeast("Leo"))
	before := disktest.Snapshot(t, dir)
	want := fmt.Sprintf("%s is in use by process %d; stop it first", dir, os.Getpid())
	t.Run("in another process", func(t *testing.T) {
		out, err := child(t, "opener", time.Minute, dirVar+"="+dir)
		var exit *exec.ExitError
		if !errors.As(err, &exit) || out != "true "+want+"\n" {
			t.Errorf("%v: %s, want %s", err, out, want)
		}
	})
	for name, try := range map[string]func() error{
		"in this process": func() error {
			_, err := Open(dir, Options{Schema: loggedZoo()})
			return err
		},
		"to verify": func() error {
			_, err := VerifyDir(dir, Options{Schema: loggedZoo()})
			return err
		},
		"to restore": func() error {
			_, err := Restore(dir, dir, nil, Options{Schema: loggedZoo()})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := try()
			var used *InUseError
			if !errors.As(err, &used) {
				t.Fatalf("got %v, want it in use", err)
			}
			disktest.Equal(t, "error", *used, InUseError{dir, strconv.Itoa(os.Getpid())})
			disktest.Equal(t, "message", err.Error(), want)
		})
	}

	sameFiles(t, disktest.Snapshot(t, dir), before)
	shut(t, db)
	if out, err := child(t, "opener", time.Minute, dirVar+"="+dir); err != nil {
		t.Errorf("after it was closed: %v: %s", err, out)
	}
}

func TestCommit_SurvivesKill(t *testing.T) {
	surviveKills(t, "write", disktest.Size(3, 10, 200))
}

func TestLiveCompact_SurvivesKill(t *testing.T) {
	surviveKills(t, "compact", disktest.Size(3, 8, 100))
}

// surviveKills kills a child that writes in a mode, and checks that nothing that was answered is
// lost.
func surviveKills(t *testing.T, mode string, rounds int) {
	dir, total := t.TempDir(), 0
	for round := range rounds {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), childVar+"=opener", modeVar+"="+mode, dirVar+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}

		answered := []string{}
		for lines := bufio.NewScanner(out); lines.Scan(); {
			answered = append(answered, "beast "+lines.Text())
			if len(answered) == 5+7*round%40 {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}

		if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Fatalf("round %d: %v: %q", round, err, answered)
		}

		db := open(t, dir, Options{Schema: loggedZoo(), drainFrom: 20})
		names := namesOf(t, db)
		mustBeLogged(t, db)
		if len(names) < len(answered) {
			t.Fatalf("round %d: %d were answered, %d are there", round, len(answered), len(names))
		}

		disktest.Equal(t, "the first names", names[:len(answered)], answered)
		total += len(answered)
		mustVerify(t, db)
		update(t, db, func(tx *Tx) error { // so that the next child can begin at 0
			for _, id := range allIDs(tx) {
				if err := beasts.Delete(tx, id); err != nil {
					return err
				}
			}
			return nil
		})
		shut(t, db)
	}
	if total == 0 {
		t.Error("no write was ever answered")
	}
}

func allIDs(tx *Tx) []ID {
	var ids []ID
	for b, err := range beasts.All(tx) {
		if err == nil {
			ids = append(ids, b.ID)
		}
	}
	return ids
}

func dirOf() string { return os.Getenv(dirVar) }
