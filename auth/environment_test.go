package auth

import (
	"crypto/sha1"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reeve/auth/breached"
	"reeve/store/errs"
)

func TestTakeVariable_Removes(t *testing.T) {
	const name = "REEVE_TEST_TAKEN"
	t.Setenv(name, "a value")
	if first, again := TakeVariable(name), TakeVariable(name); first != "a value" || again != "" {
		t.Errorf("%q, then %q", first, again)
	}
	if value, set := os.LookupEnv(name); set {
		t.Errorf("it is still set, to %q", value)
	}
}

// TestLeakedPassword_LookedUpLast checks that a password refused by other rules is not looked up,
// and that a password is refused if the lookup fails.
func TestLeakedPassword_LookedUpLast(t *testing.T) {
	path := filepath.Join(t.TempDir(), "leaked")
	must(t, os.WriteFile(path, fmt.Appendf(nil, "%X:2\n", sha1.Sum([]byte("a leaked one"))), 0o600))
	list, err := breached.Open(path)
	must(t, err)
	o := Options{Common: map[string]bool{"password1": true}, Breached: list}
	check := func(password string) *errs.Error {
		if err := o.CheckFirst("the-admin", "FIELD", password); err != nil {
			return errs.Of(err)
		}
		return &errs.Error{}
	}
	if e := check("a leaked one"); e.Kind != errs.Invalid || e.Code != "password_breached" ||
		e.Fields["FIELD"].Empty() {
		t.Errorf("%v", e)
	}
	if e := check("a good one"); e.Kind != fine {
		t.Errorf("%v", e)
	}

	must(t, os.Remove(path))
	for password, want := range map[string]errs.Kind{
		"Password1":    errs.Invalid,
		"short":        errs.Invalid,
		"a good one":   errs.Busy,
		"a leaked one": errs.Busy,
	} {
		if e := check(password); e.Kind != want {
			t.Errorf("%s, without the list: %v", password, e)
		}
	}
}

// TestFirstPassword_MeetsPolicy as other passwords, with the default minimum
// length.
func TestFirstPassword_MeetsPolicy(t *testing.T) {
	o := Options{Common: map[string]bool{"password1": true}}
	for password, want := range map[string]string{
		"Password1": "too common", "The-Admin": "must not be the username", "short": "8 to 1024",
		strings.Repeat("é", 4): "at least 8 characters", "a good one": "",
	} {
		err := o.CheckFirst("the-admin", "FIELD", password)
		if want == "" != (err == nil) ||
			err != nil &&
				(!strings.Contains(errs.Of(err).Msg.String(), want) ||
					!strings.Contains(errs.Of(err).Msg.String(), "FIELD")) {
			t.Errorf("%q: %v, want %q", password, err, want)
		}
	}
}
