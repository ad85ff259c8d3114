package auth

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"golang.org/x/crypto/bcrypt"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/fold"
)

func TestPassword_AnyBytesDistinguished(t *testing.T) {
	h := newHasher([]byte("key"), testCost)
	long := strings.Repeat("x", 72)
	passwords := []string{
		"", "correct horse", "Correct horse", " correct horse", "correct horse ",
		"correct horse\n", "correct\x00horse", "correct\x00", "correct",
		"пароль🎉", "пароль🎊", "\u00e9tude", "etude", "\xff\xfe", "\xff", "e\u0301\xff",
		"\u00e9\xff", "ﬁnal", "final", "Ａlpha", "Alpha", long, long + "a", long + "b",
		strings.Repeat("x", maxPassword), strings.Repeat("x", maxPassword-1),
		strings.Repeat("\x00", 8), strings.Repeat("\x00", 9),
	}
	for i, made := range passwords {
		hash, err := h.hash(newPasswords, made)
		must(t, err)
		if strings.Contains(hash, made) && made != "" {
			t.Errorf("%q stands in its hash", made)
		}
		for j, given := range passwords {
			if same, err := h.compare(newPasswords, hash, given); err != nil || same != (i == j) {
				t.Errorf("%.20q against %.20q: %t, %v", given, made, same, err)
			}
		}
	}
}

// All ways to type the same characters are the same password.
func TestCompare_FormsOfOnePassword(t *testing.T) {
	h := newHasher([]byte("key"), testCost)
	for _, p := range [][2]string{
		{"Gr\u00fc\u00dfe aus K\u00f6ln 7", "Gru\u0308\u00dfe aus Ko\u0308ln 7"},
		{"한국 1234", "\u1112\u1161\u11ab\u1100\u116e\u11a8 1234"},
		{"\u212bngstrom", "A\u030angstrom"}, {"Nguy\u1ec5n 123", "Nguye\u0302\u0303n 123"},
		{"two\u00a0words", "two words"}, {"two\u3000words", "two words"},
	} {
		for i, made := range p {
			hash, err := h.hash(newPasswords, made)
			must(t, err)
			if same, earlier, err := h.match(newPasswords, hash, p[1-i]); !same || earlier ||
				err != nil {
				t.Errorf("%q against %q: %t, %t, %v", p[1-i], made, same, earlier, err)
			}
		}
	}
}

// A hash of the text as it was typed, as reeve made them before 0.16, is accepted once, and then
// replaced.
func TestLogin_EarlierForm(t *testing.T) {
	const composed, decomposed = "Gr\u00fc\u00dfe aus K\u00f6ln 7", "Gru\u0308\u00dfe aus Ko\u0308ln 7"
	for name, c := range map[string]struct{ made, typed string }{
		"both decomposed": {decomposed, decomposed}, "typed composed": {decomposed, composed},
		"typed decomposed": {composed, decomposed},
		"another space":    {"no\u00a0break space", "no\u00a0break space"},
	} {
		t.Run(name, func(t *testing.T) {
			in := start(t)
			in.set("security.password_history", "1")
			who := in.ann()
			hash, err := bcrypt.GenerateFromPassword(in.hasher.mix(c.made), testCost)
			must(t, err)
			in.update(func(tx *store.Tx) error {
				return store.SetHash(tx, who, string(hash), false, 0)
			})
			enter := func(typed string) error {
				_, err := in.Login(Attempt{App: true, Username: "ann", Password: typed, Addr: home})
				return err
			}
			if err := enter("Gr\u00fcsse aus K\u00f6ln 7"); !errs.Is(err, errs.Unauthenticated) {
				t.Errorf("a wrong password: %v", err)
			}

			s := in.sessionOf(who)
			used(t, "the same password", "password", in.resets(who, c.typed))
			must(t, in.Confirm(s, home, c.typed))
			must(t, enter(c.typed))
			now := in.storedHash(who)
			if bcrypt.CompareHashAndPassword([]byte(now), in.hasher.mix(fold.Password(c.made))) != nil {
				t.Error("the hash is not of the new form")
			}

			must(t, enter(c.made))
			must(t, enter(fold.Password(c.made)))
			if in.storedHash(who) != now {
				t.Error("the hash was replaced again")
			}
		})
	}
}

func TestHash_OtherInstallation(t *testing.T) {
	hash, err := newHasher([]byte("one"), testCost).hash(newPasswords, password)
	must(t, err)
	if same, err := newHasher([]byte("two"), testCost).compare(newPasswords, hash, password); same ||
		err != nil {
		t.Errorf("%t, %v", same, err)
	}
}

func TestHash_MissingCostsComparison(t *testing.T) {
	h := newHasher([]byte("key"), testCost)
	for _, given := range []string{"", password, "x"} {
		if same, err := h.compare(newPasswords, "", given); same || err != nil {
			t.Errorf("%q: %t, %v", given, same, err)
		}
	}
	if n := h.compared.Load(); n != 3 {
		t.Errorf("%d comparisons", n)
	}
}

func TestHash_InvalidIsError(t *testing.T) {
	h := newHasher([]byte("key"), testCost)
	for _, hash := range []string{"x", "$2a$04$short", strings.Repeat("x", 60)} {
		if same, err := h.compare(newPasswords, hash, password); same || err == nil {
			t.Errorf("%q: %t, %v", hash, same, err)
		}
	}
}

func TestPasswordLengthBounds(t *testing.T) {
	for n, ok := range map[int]bool{0: false, 7: false, 8: true, 73: true, 1024: true, 1025: false} {
		if err := CheckPassword("field", strings.Repeat("x", n)); (err == nil) != ok {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	if err := CheckPassword("field", "🎉🎉"); err != nil {
		t.Errorf("two emoji are eight bytes: %v", err)
	}
}

func TestRandomPassword_MeetsPolicyAndDiffers(t *testing.T) {
	a, b := RandomPassword(), RandomPassword()
	if a == b || len(a) < 26 || CheckPassword("field", a) != nil {
		t.Errorf("%q, %q", a, b)
	}
}

// TestHasher_FullQueueIsBusy fills the queue with work that does not end.
func TestHasher_FullQueueIsBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHasher([]byte("key"), testCost)
		release := make(chan struct{})
		queue := queuePerWorker * h.queue.slots
		results := make([]error, queue)
		var running, most int
		var mu sync.Mutex
		var wg sync.WaitGroup
		for i := range queue {
			wg.Go(func() {
				results[i] = h.run(newPasswords, func() error {
					mu.Lock()
					running++
					most = max(most, running)
					mu.Unlock()
					<-release
					mu.Lock()
					running--
					mu.Unlock()
					return errors.New("done")
				})
			})
		}

		synctest.Wait()
		if running != h.queue.slots {
			t.Errorf("%d run at once, there are %d workers", running, h.queue.slots)
		}

		for range 3 { // a rejected caller takes no place
			err := h.run(newPasswords, func() error { t.Error("it has run"); return nil })
			if e := errs.Of(err); e.Kind != errs.Busy || e.RetryAfter <= 0 {
				t.Errorf("%v", err)
			}
		}

		close(release)
		wg.Wait()
		for i, err := range results {
			if err == nil || err.Error() != "done" {
				t.Errorf("%d: %v", i, err)
			}
		}

		if most != h.queue.slots || h.queue.known.n != 0 || h.queue.free != h.queue.slots {
			t.Errorf("%d ran at once, %d still wait, %d slots are free", most, h.queue.known.n,
				h.queue.free)
		}
		if err := h.run(newPasswords, func() error { return nil }); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}

// TestHasher_PanicFailsOnlyItsRequest: only the request with the panic fails, and its
// slot is released.
func TestHasher_PanicFailsOnlyItsRequest(t *testing.T) {
	h := newHasher([]byte("key"), testCost)
	for range h.queue.slots + 1 {
		if err := h.run(newPasswords, func() error {
			panic("x")
		}); err == nil || errs.Of(err).Kind != errs.Internal {
			t.Errorf("%v", err)
		}
	}
	if h.queue.known.n != 0 || h.queue.free != h.queue.slots {
		t.Errorf("%d wait, %d slots are free", h.queue.known.n, h.queue.free)
	}
}
