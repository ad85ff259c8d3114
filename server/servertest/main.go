// Package servertest starts whole instances of Reeve for the tests of package server and of its
// features, and has the callers, requests and checks that they share. Start is the entry.
package servertest

import (
	"flag"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"

	"reeve/store/disk/disktest"
)

// Main runs the tests of a package: four at once on a machine with fewer cores, unless -parallel
// says otherwise, since many of them wait for a deadline. Their files are in memory: the store and
// the tests of the whole program test the disk. An instance is small and short-lived, so that
// collecting garbage less often saves a tenth of the time.
func Main(m *testing.M) {
	flag.Parse()
	if cores := runtime.GOMAXPROCS(0); cores < 4 &&
		flag.Lookup("test.parallel").Value.String() == strconv.Itoa(cores) {
		if err := flag.Set("test.parallel", "4"); err != nil {
			panic(err)
		}
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	disktest.InMemory()
	os.Exit(m.Run())
}
