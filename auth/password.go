package auth

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"golang.org/x/crypto/bcrypt"
	"reeve/store"
	"reeve/store/errs"
)

// What a password may be, in bytes; any characters.
const (
	minPassword = 8
	maxPassword = 1024
)

// queuePerWorker bounds how many callers of one kind have or wait for a hashing slot.
// Others get 503 after a pause that keeps a flood's connections from being used again
// at once; when maxPausing do that already, without one.
const (
	queuePerWorker = 16
	pause          = 250 * time.Millisecond
	maxPausing     = 256
)

// hasher makes and compares password hashes: bcrypt of the base64 text of
// HMAC-SHA-384(install key, password). The HMAC takes passwords of any length
// and any bytes past bcrypt's limit of 72, and its key makes a stolen hash
// useless without the rest of the database. At most cores-1 run at once, and at a
// lower priority where the system has one for threads, so that a flood of logins
// does not slow everybody else.
type hasher struct {
	key     []byte
	cost    int
	queue   *queue
	pausing atomic.Int64
	// compared counts comparisons: what a test holds a login's cost against.
	compared atomic.Int64
}

func newHasher(key []byte, cost int) *hasher {
	return &hasher{key: key, cost: cost, queue: newQueue(max(1, runtime.GOMAXPROCS(0)-1), queuePerWorker)}
}

// Workers is how many hashes run at once at most.
func (a *Auth) Workers() int { return a.hasher.queue.slots }

// turn runs fn when a slot is free, or answers Busy when too many wait.
func (h *hasher) turn(p place, fn func() error) error {
	began := time.Now()
	free := h.queue.take(p)
	if p.spent != nil {
		p.spent.Wait += time.Since(began)
	}
	if !free {
		if h.pausing.Add(1) <= maxPausing {
			time.Sleep(pause)
		}
		h.pausing.Add(-1)
		return errs.New(errs.Busy, "too many people are signing in at this moment; try again shortly").After(2 * time.Second)
	}
	defer h.queue.give()
	if p.spent != nil {
		began = time.Now()
		defer func() { p.spent.Took += time.Since(began) }()
	}
	done := make(chan error, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil { // nobody else can: it is this goroutine's
				done <- fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			}
		}()
		runtime.LockOSThread() // and never unlocked: the thread ends with this goroutine, and its priority with it
		lowerPriority()
		done <- fn()
	}()
	return <-done
}

func (h *hasher) mix(password string) []byte {
	mac := hmac.New(sha512.New384, h.key)
	mac.Write([]byte(password))
	return base64.StdEncoding.AppendEncode(nil, mac.Sum(nil)) // 64 bytes
}

func (h *hasher) hash(p place, password string) (hash string, err error) {
	err = h.turn(p, func() error {
		b, err := bcrypt.GenerateFromPassword(h.mix(password), h.cost)
		hash = string(b)
		return err
	})
	return hash, err
}

// compare tells whether a password is the one a hash was made of. Against no
// hash ("") it does the same work and says no.
func (h *hasher) compare(p place, hash, password string) (same bool, err error) {
	if hash == "" {
		hash = fmt.Sprintf("$2a$%02d$%s", h.cost, "....................../////////////////////////////////"[:53])
	}
	err = h.turn(p, func() error {
		h.compared.Add(1)
		err := bcrypt.CompareHashAndPassword([]byte(hash), h.mix(password))
		same = err == nil
		if errors.Is(err, bcrypt.ErrMismatchedHashAndPassword) {
			return nil
		}
		return err
	})
	return same, err
}

// stale tells whether a hash was made at another cost than the one in force.
func (h *hasher) stale(hash string) bool {
	cost, err := bcrypt.Cost([]byte(hash))
	return err != nil || cost != h.cost
}

// CheckPassword says what is wrong with a new password, whatever the settings.
func CheckPassword(field, password string) error {
	if n := len(password); n < minPassword || n > maxPassword {
		return errs.Field(errs.Invalid, field, "must have between %d and %d bytes", minPassword, maxPassword)
	}
	return nil
}

// Secret is a new password, hashed.
type Secret struct {
	Hash      string
	Generated string // the password, if it was made here; "" if it was given
}

// NewSecret checks a password against the policy and hashes it, or makes one when
// none is given, for a caller who has a session. field is where its faults are told.
func (a *Auth) NewSecret(username, field string, given *string) (*Secret, error) {
	return a.newSecret(newPasswords, username, field, given)
}

func (a *Auth) newSecret(p place, username, field string, given *string) (*Secret, error) {
	s := &Secret{}
	password := ""
	if given != nil {
		password = *given
		if err := a.checkPolicy(username, field, password); err != nil {
			return nil, err
		}
	} else {
		password = RandomPassword()
		s.Generated = password
	}
	var err error
	s.Hash, err = a.hasher.hash(p, password)
	return s, err
}

// checkPolicy holds a new password to the settings: its length, and, unless that
// is switched off, that it is neither common nor the user's own name.
func (a *Auth) checkPolicy(username, field, password string) error {
	least := 0
	err := a.db.View(store.Nobody, func(tx *store.Tx) error {
		least = store.PasswordLength.Get(tx)
		return nil
	})
	if err != nil {
		return err
	}
	return a.options.check(username, field, password, least)
}

// CheckFirst checks the password of the first user, when there are no settings yet,
// by their defaults.
func (o Options) CheckFirst(username, field, password string) error {
	least, err := strconv.Atoi(store.PasswordLength.Default)
	if err != nil {
		return err
	}
	return o.check(username, field, password, least)
}

// check reports what is wrong with a new password, which must have least characters.
func (o Options) check(username, field, password string, least int) error {
	if err := CheckPassword(field, password); err != nil {
		return err
	}
	folded := store.Fold(password)
	switch {
	case utf8.RuneCountInString(password) < least:
		return errs.Field(errs.Invalid, field, "must have at least %d characters", least)
	case username != "" && folded == store.Fold(username):
		return errs.Field(errs.Invalid, field, "must not be the user name")
	case o.Common[folded]:
		return errs.Field(errs.Invalid, field, "is one of the most common passwords")
	}
	return nil
}

// RandomPassword makes a password of 130 random bits that can be typed.
func RandomPassword() string { return rand.Text() }
