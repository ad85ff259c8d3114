package limit_test

import (
	"testing"

	"reeve/server/limit"
	"reeve/store/errs"
)

func TestLimit_SharedByClients(t *testing.T) {
	t.Parallel()
	l := limit.New("test", 10, errs.Say("too many requests at once"))
	a, b := limit.Share{Client: "a", Most: 6}, limit.Share{Client: "b", Most: 6}
	for i, step := range []struct {
		n      int64
		shares []limit.Share
		kind   errs.Kind // Internal for none
	}{
		{6, []limit.Share{a}, errs.Internal}, {1, []limit.Share{a}, errs.TooMany},
		{5, []limit.Share{b}, errs.Busy}, {4, []limit.Share{b}, errs.Internal},
		{1, []limit.Share{b, a}, errs.TooMany}, {1, nil, errs.Busy},
	} {
		err := l.Acquire(step.n, step.shares...)
		if step.kind == errs.Internal && err != nil ||
			step.kind != errs.Internal &&
				(!errs.Is(err, step.kind) || errs.Of(err).RetryAfter == 0) {
			t.Errorf("step %d: %v", i, err)
		}
	}

	l.Release(6, a)
	l.Release(4, b)
	if l.Now() != 0 || len(l.ByClient) != 0 || l.Rejected.Load() != 4 {
		t.Errorf("%d are held by %v, %d were rejected", l.Now(), l.ByClient, l.Rejected.Load())
	}
}
