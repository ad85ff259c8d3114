package store

import "testing"

func TestLink_ValidTokens(t *testing.T) {
	l := &Link{Tokens: []LinkToken{{ExpiresAt: 10}, {ExpiresAt: 20}, {ExpiresAt: 30}}}
	for now, want := range map[Time]int{9: 3, 10: 2, 19: 2, 29: 1, 30: 0} {
		if got := l.Valid(now); got != want {
			t.Errorf("at %d, %d tokens are valid, want %d", now, got, want)
		}
	}
}
