package server

import (
	"flag"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"

	"reeve/store/disk/disktest"
)

// TestMain runs four tests at once on a machine with fewer cores, unless -parallel says
// otherwise: many of them wait for a deadline. Their files are in memory: the store and the tests
// of the whole program test the disk. An instance is small and short-lived, so that collecting
// garbage less often saves a tenth of the time.
func TestMain(m *testing.M) {
	flag.Parse()
	if cores := runtime.GOMAXPROCS(0); cores < 4 && flag.Lookup("test.parallel").Value.String() == strconv.Itoa(cores) {
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
