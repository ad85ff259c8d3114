package kv

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"filippo.io/age"

	"reeve/store/disk/disktest"
)

// TestStream_Synced counts system calls: with the commit stream, a commit is one more write, and no more
// syncs than without.
func TestStream_Synced(t *testing.T) {
	const countVar, streamVar = "REEVE_TEST_COMMITS", "REEVE_TEST_STREAM"
	if n, err := strconv.Atoi(os.Getenv(countVar)); err == nil {
		options := Options{Schema: loggedZoo()}
		if os.Getenv(streamVar) != "" {
			options.Stream = &StreamOptions{Recipients: []age.Recipient{newIdentity(t).Recipient()}}
		}
		db, err := Open(dirOf(), options)
		for i := 0; i < n && err == nil; i++ {
			err = db.Update(System, createBeast(fmt.Sprint("beast ", i)))
		}
		if err = errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		return
	}

	calls := func(n int, streamed string) (syncs, writes int) {
		dir, calls := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "calls")
		cmd := exec.CommandContext(t.Context(), "strace", "-f", "-y", "-qq", "-o", calls, "-e",
			"trace=fsync,fdatasync,sync_file_range,msync,write,pwrite64,writev,pwritev", os.Args[0], "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), fmt.Sprint(countVar, "=", n), streamVar+"="+streamed, dirVar+"="+dir)
		out, err := cmd.CombinedOutput()
		if errors.Is(err, exec.ErrNotFound) || strings.HasPrefix(string(out), "strace:") {
			unless(t, "strace cannot be had here: "+string(out))
		}
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		text := disktest.ReadFile(t, calls)
		of := func(call, path string) int {
			return len(regexp.MustCompile(`(?m)^\d+ +`+call+`\(\d+<`+regexp.QuoteMeta(dir)+path).FindAll(text, -1))
		}
		return of(`\w*sync\w*`, ""), of(`p?write\w*`, "/stream/")
	}
	const few, more = 5, 45
	per := func(streamed string) (syncs, writes int) { // of 40 commits, without those of a start
		syncsOfFew, writesOfFew := calls(few, streamed)
		syncs, writes = calls(more, streamed)
		return syncs - syncsOfFew, writes - writesOfFew
	}
	without, none := per("")
	with, writes := per("on")
	if with > without+3 || with < more-few || none != 0 || writes != more-few { // the file grows now and then
		t.Errorf("%d commits: %d syncs without the stream, %d with it, and %d and %d writes of the stream", more-few, without, with, none, writes)
	}
}
