package server

import (
	"flag"
	"os"
	"runtime"
	"strconv"
	"testing"
)

// TestMain runs four tests at once on a machine with fewer cores, unless -parallel says
// otherwise: many of them wait, for a deadline or for the disk.
func TestMain(m *testing.M) {
	flag.Parse()
	if cores := runtime.GOMAXPROCS(0); cores < 4 && flag.Lookup("test.parallel").Value.String() == strconv.Itoa(cores) {
		if err := flag.Set("test.parallel", "4"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
