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
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"golang.org/x/crypto/bcrypt"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/fold"
)

// Bounds of a password in bytes. Any characters are allowed.
const (
	minPassword = 8
	maxPassword = 1024
)

// queuePerWorker bounds the callers of one line that hold or wait for a hashing slot,
// per worker. Beyond it callers get 503 after a short delay, which keeps a flood from
// reusing its connections at once. At most maxPausing callers are delayed; further ones
// get 503 immediately.
const (
	queuePerWorker = 16
	pause          = 250 * time.Millisecond
	maxPausing     = 256
)

// hasher computes and compares password hashes: bcrypt of the base64 text of HMAC-SHA-384(install
// key, password in the form of fold.Password). The HMAC accepts passwords of any length and any
// bytes, past bcrypt's limit of 72, and its key makes a stolen hash useless without the rest of the
// database. At most cores-1 hashes run at once, at a lower priority where the system supports it
// for threads, so that a flood of sign-ins does not slow other requests.
type hasher struct {
	key     []byte
	cost    int
	queue   *queue
	pausing atomic.Int64
	// compared counts comparisons. Tests check the cost of a sign-in with it.
	compared atomic.Int64
}

func newHasher(key []byte, cost int) *hasher {
	return &hasher{
		key:   key,
		cost:  cost,
		queue: newQueue(max(1, runtime.GOMAXPROCS(0)-1), queuePerWorker),
	}
}

// Workers returns the maximum number of hashes that run at once.
func (a *Auth) Workers() int { return a.hasher.queue.slots }

// run waits for a slot and runs fn. It returns Busy if too many callers wait.
func (h *hasher) run(p hashCaller, fn func() error) error {
	began := time.Now()
	free := h.queue.acquire(p)
	if p.timing != nil {
		p.timing.Wait += time.Since(began)
	}
	if !free {
		if h.pausing.Add(1) <= maxPausing {
			time.Sleep(pause)
		}
		h.pausing.Add(-1)
		return errs.New(errs.Busy, "too many sign-ins at once; try again in a moment").After(2 * time.Second)
	}

	defer h.queue.release()
	if p.timing != nil {
		began = time.Now()
		defer func() { p.timing.Took += time.Since(began) }()
	}

	done := make(chan error, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil { // a panic in this goroutine can only be recovered here
				done <- fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			}
		}()
		runtime.LockOSThread() // never unlocked: the thread ends with this goroutine, and its priority with it
		lowerPriority()
		done <- fn()
	}()

	return <-done
}

// forms returns the texts with which a password is compared. New hashes are of the form of
// fold.Password. Imported hashes, and those of reeve before 0.16, can be of the typed text, or of
// its decomposed form, which some systems send. Only passwords with characters outside ASCII have
// more than one.
func forms(password string) []string {
	all := []string{fold.Password(password)}
	for _, earlier := range []string{password, fold.Decomposed(password)} {
		if !slices.Contains(all, earlier) {
			all = append(all, earlier)
		}
	}
	return all
}

func (h *hasher) mix(password string) []byte {
	mac := hmac.New(sha512.New384, h.key)
	mac.Write([]byte(password))
	return base64.StdEncoding.AppendEncode(nil, mac.Sum(nil)) // 64 bytes
}

func (h *hasher) hash(p hashCaller, password string) (hash string, err error) {
	err = h.run(p, func() error {
		b, err := bcrypt.GenerateFromPassword(h.mix(fold.Password(password)), h.cost)
		hash = string(b)
		return err
	})
	return hash, err
}

// compare reports whether hash is the hash of password in one of its forms. An empty hash costs the
// same work and matches nothing.
func (h *hasher) compare(p hashCaller, hash, password string) (same bool, err error) {
	same, _, err = h.match(p, hash, password)
	return same, err
}

// match is compare. It also reports whether the hash is of another form than that of fold.Password:
// then it is to be replaced.
func (h *hasher) match(p hashCaller, hash, password string) (same, earlier bool, err error) {
	for i, form := range forms(password) {
		if same, err = h.compareForm(p, hash, form); same || err != nil {
			return same, i > 0, err
		}
	}
	return false, false, nil
}

func (h *hasher) compareForm(p hashCaller, hash, password string) (same bool, err error) {
	if text, imported := strings.CutPrefix(hash, store.ImportedHash); imported {
		return h.compareImported(p, text, password)
	}
	if hash == "" {
		hash = fmt.Sprintf("$2a$%02d$%s", h.cost,
			"....................../////////////////////////////////"[:53])
	}

	err = h.run(p, func() error {
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

// stale reports whether a hash was made with another cost than the configured one, or by another
// program.
func (h *hasher) stale(hash string) bool {
	cost, err := bcrypt.Cost([]byte(hash))
	return err != nil || cost != h.cost
}

// CheckPassword checks the bounds of a new password that apply whatever the settings.
func CheckPassword(field, password string) error {
	if n := len(fold.Password(password)); n < minPassword || n > maxPassword {
		return errs.Field(errs.Invalid, field, "must be %d to %d bytes", minPassword, maxPassword)
	}
	return nil
}

// Secret is the hash of a new password.
type Secret struct {
	Hash      string
	Generated string // the password if NewSecret generated it, else ""
}

// NewSecret checks a password against the policy and hashes it, or generates one if
// given is nil. It is for callers with a session. field is the name of the input field
// for errors.
func (a *Auth) NewSecret(username, field string, given *string) (*Secret, error) {
	return a.newSecret(newPasswords, username, field, given)
}

func (a *Auth) newSecret(p hashCaller, username, field string, given *string) (*Secret, error) {
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

// checkPolicy checks a new password against the settings: its minimum length, and that
// it is neither common, nor leaked, nor made of words of the context.
func (a *Auth) checkPolicy(username, field, password string) error {
	least, site := 0, ""
	err := a.db.View(store.Anonymous, func(tx *store.Tx) error {
		least, site = store.PasswordLength.Get(tx), store.SiteTitle.Get(tx)
		return nil
	})
	if err != nil {
		return err
	}
	return a.options.check(username, site, field, password, least)
}

// CheckFirst checks the first user's password against the defaults of the settings,
// which do not exist yet.
func (o Options) CheckFirst(username, field, password string) error {
	least, err := strconv.Atoi(store.PasswordLength.Default)
	if err != nil {
		return err
	}
	return o.check(username, "", field, password, least)
}

// check checks a new password. least is the minimum length in characters, site the title of the
// site.
func (o Options) check(username, site, field, password string, least int) error {
	if err := CheckPassword(field, password); err != nil {
		return err
	}

	password = fold.Password(password)
	folded := fold.Key(password)
	switch {
	case utf8.RuneCountInString(password) < least:
		return errs.Field(errs.Invalid, field, "must be at least %d characters", least)
	case username != "" && folded == fold.Key(username):
		return errs.Field(errs.Invalid, field, "must not be the username")
	case isContextual(folded, contextWords(username, site)):
		return errs.Field(errs.Invalid, field,
			"must not be made of the username, the name of this site or of the program").Coded("password_contextual")
	case o.Common[folded]:
		return errs.Field(errs.Invalid, field, "is too common; choose another password")
	}

	return o.checkBreached(field, password)
}

// checkBreached returns an error for a password that was leaked, or that can't be looked up:
// damaging the list must not turn the check off.
func (o Options) checkBreached(field, password string) error {
	if o.Breached == nil {
		return nil
	}
	leaked, err := o.Breached.Has(password)
	switch {
	case err != nil:
		// Busy because it is no fault of the request, and passes when the list is repaired.
		return errs.New(errs.Busy,
			"the list of leaked passwords can't be read, so no password can be set; tell the administrator").Coded("breached_list_unreadable").Because(err)
	case leaked:
		return errs.Field(errs.Invalid, field,
			"appears in a list of leaked passwords; choose another one").Coded("password_breached")
	}
	return nil
}

// BreachedFault returns whether there is a list of leaked passwords, what is wrong with it, and
// since when, if that is known.
func (a *Auth) BreachedFault() (listed bool, since time.Time, err error) {
	if a.options.Breached == nil {
		return false, time.Time{}, nil
	}
	since, err = a.options.Breached.Fault()
	return true, since, err
}

// RandomPassword returns a password of 130 random bits that is easy to type.
func RandomPassword() string { return rand.Text() }
