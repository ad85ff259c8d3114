package auth

import (
	"os"
	"strings"
	"testing"

	"reeve/store/errs"
)

func TestTakeVariableRemovesTheVariable(t *testing.T) {
	const name = "REEVE_TEST_TAKEN"
	t.Setenv(name, "a value")
	if first, again := TakeVariable(name), TakeVariable(name); first != "a value" || again != "" {
		t.Errorf("%q, then %q", first, again)
	}
	if value, set := os.LookupEnv(name); set {
		t.Errorf("it is still set, to %q", value)
	}
}

// TestTheFirstPasswordMeetsThePolicy as other passwords, with the default minimum
// length.
func TestTheFirstPasswordMeetsThePolicy(t *testing.T) {
	o := Options{Common: map[string]bool{"password1": true}}
	for password, want := range map[string]string{
		"Password1": "too common", "The-Admin": "must not be the username", "short": "8 to 1024", strings.Repeat("é", 4): "at least 8 characters", "a good one": "",
	} {
		err := o.CheckFirst("the-admin", "FIELD", password)
		if want == "" != (err == nil) || err != nil && (!strings.Contains(errs.Of(err).Msg.String(), want) || !strings.Contains(errs.Of(err).Msg.String(), "FIELD")) {
			t.Errorf("%q: %v, want %q", password, err, want)
		}
	}
}
