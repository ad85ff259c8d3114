package auth

import (
	"os"
	"strings"
	"testing"

	"reeve/store/errs"
)

func TestAVariableIsTakenOnce(t *testing.T) {
	const name = "REEVE_TEST_TAKEN"
	t.Setenv(name, "a value")
	if first, again := TakeVariable(name), TakeVariable(name); first != "a value" || again != "" {
		t.Errorf("%q, then %q", first, again)
	}
	if value, set := os.LookupEnv(name); set {
		t.Errorf("it is still set, to %q", value)
	}
}

// TestTheFirstPasswordIsHeldToTheSameRules as any other, with the default length.
func TestTheFirstPasswordIsHeldToTheSameRules(t *testing.T) {
	o := Options{Common: map[string]bool{"password1": true}}
	for password, want := range map[string]string{
		"Password1": "most common", "The-Admin": "must not be the user name", "short": "between 8", strings.Repeat("é", 4): "at least 8 characters", "a good one": "",
	} {
		err := o.CheckFirst("the-admin", "FIELD", password)
		if want == "" != (err == nil) || err != nil && (!strings.Contains(errs.Of(err).Msg, want) || !strings.Contains(errs.Of(err).Msg, "FIELD")) {
			t.Errorf("%q: %v, want %q", password, err, want)
		}
	}
}
