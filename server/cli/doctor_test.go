package cli

import (
	"strings"
	"testing"
	"time"
)

func TestDoctor_SaysWhatABackupLacks(t *testing.T) {
	t.Parallel()
	long := time.Now().Add(-3 * backupAge)
	for _, test := range []struct {
		last                *time.Time
		targets, recipients []string
		do                  string
	}{
		{nil, nil, nil, "name a target"},
		{nil, nil, []string{"age1"}, "name a target"},
		{&long, []string{"offsite"}, nil, "the target offsite gets no copies without a recipient"},
		{&long, []string{"offsite"}, []string{"age1"}, "`reeve backup now`"},
	} {
		if p := checkBackup(test.last, test.targets, test.recipients); p.State != "degraded" || !strings.Contains(p.Do, test.do) {
			t.Errorf("%v %v: %+v", test.targets, test.recipients, p)
		}
	}
	now := time.Now()
	if p := checkBackup(&now, nil, nil); p.State != "ok" || p.Do != "" {
		t.Errorf("%+v", p)
	}
}
