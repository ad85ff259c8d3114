package auth

import (
	"os"
	"testing"

	"reeve/store/disk/disktest"
)

func TestMain(m *testing.M) {
	disktest.InMemory()
	os.Exit(m.Run())
}
