package auth

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"reeve/store"
)

// TestManual_LoginLimits: the security model of the manual states the limits as they
// are declared.
func TestManual_LoginLimits(t *testing.T) {
	page, err := os.ReadFile("../embed/manual/security.md")
	if err != nil {
		t.Fatal(err)
	}

	text := strings.Join(strings.Fields(string(page)), " ")
	tries := builtinDefault(t, store.LoginTries.Builtin)
	for _, want := range []string{
		fmt.Sprintf("| username and client address | 1 × (%d) |", tries),
		fmt.Sprintf("| username, from anywhere | %d × (%d) |", triesPerName, triesPerName*tries),
		fmt.Sprintf("| client address | %d × (%d) |", triesPerAddress, triesPerAddress*tries),
		fmt.Sprintf("signed in within the last %d days", knownFor/(24*time.Hour)),
		fmt.Sprintf("after %d failures in a row", store.MaxDeviceFailures),
		fmt.Sprintf("%d to %d bytes", minPassword, maxPassword),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not have %q", want)
		}
	}
}

func builtinDefault(t *testing.T, b *store.Builtin) (n int) {
	t.Helper()
	if _, err := fmt.Sscan(b.Default, &n); err != nil {
		t.Fatal(err)
	}
	return n
}
