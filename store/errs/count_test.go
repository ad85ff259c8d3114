package errs

import "testing"

func TestCount_Plurals(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"1 record": Count(1, "record"), "0 records": Count(0, "record"), "1 entry": Count(1, "entry"),
		"2 entries": Count(2, "entry"), "2 keys": Count(2, "key"), "2 days": Count(2, "day"),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
