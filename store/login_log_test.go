package store

import (
	"errors"
	"testing"

	"reeve/store/disk/disktest"
)

// Results are the numbers of successful, failed and rate-limited rows that remain.
func TestLoginLog_Bound(t *testing.T) {
	count := func(tx *Tx) []int {
		var n [3]int
		var failed error
		for i, result := range loginResults {
			var err error
			n[i], err = LoginLogByResult.Count(tx, result)
			failed = errors.Join(failed, err)
		}
		if failed != nil {
			t.Fatal(failed)
		}
		return n[:]
	}
	for name, test := range map[string]struct {
		before            Time // rows are created at times 1, 2, 3 and so on
		keep, limit, runs int
		want              []int
	}{
		"nothing is old or too much":             {0, 100, 10, 3, []int{10, 10, 20}},
		"what is old":                            {11, 100, 100, 1, []int{0, 10, 20}},
		"what is old, some at a time":            {11, 100, 4, 2, []int{2, 10, 20}},
		"a flood of throttled ones goes first":   {0, 30, 100, 1, []int{10, 10, 10}},
		"some of them at a time":                 {0, 30, 3, 2, []int{10, 10, 14}},
		"the oldest when none is more than half": {0, 36, 100, 2, []int{10, 10, 16}},
		"everything is cut down to what is kept": {0, 5, 100, 40, []int{5, 0, 0}},
		"too many first, then what is old":       {6, 20, 100, 9, []int{5, 10, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			clock := clockAt(0)
			db := open(t, t.TempDir(), Options{Clock: clock.now})
			for _, rows := range []struct {
				result string
				n      int
			}{{LoginSucceeded, 10}, {LoginFailed, 10}, {LoginThrottled, 20}} {
				for range rows.n {
					clock.Add(1)
					update(t, db, func(tx *Tx) error {
						return LoginLogs.Create(tx, &LoginLog{Result: rows.result, Username: "a"})
					})
				}
			}

			for range test.runs {
				update(t, db, func(tx *Tx) error {
					_, err := TrimLoginLog(tx, test.before, test.keep, test.limit)
					return err
				})
			}

			view(t, db, func(tx *Tx) error {
				disktest.Equal(t, "rows by result", count(tx), test.want)
				return nil
			})
		})
	}
}
