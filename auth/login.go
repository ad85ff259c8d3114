package auth

import (
	"errors"
	"net/netip"
	"time"

	"github.com/mileusna/useragent"
	"reeve/store"
	"reeve/store/errs"
)

// Attempt is somebody trying to sign in.
type Attempt struct {
	App                bool // to the app users' realm
	Username, Password string
	Addr               netip.Addr
	UserAgent          string
	Device             string // token of a device that the user has signed in from; "" for none
	// Observe, if there is one, is told of what throttling counts for this attempt,
	// before Login or Register returns.
	Observe func(CounterOp)
	// Hashing, if there is one, gets the time that hashing takes.
	Hashing *HashTime
	// AddressFull, if there is one, is called when the address has used up its attempts.
	AddressFull func()

	fingerprint string // of the name, which is then empty, if no user has it
}

// Grant is a successful sign-in.
type Grant struct {
	Token      string
	Device     string // token to send along with the next attempt
	ExpiresAt  store.Time
	MustChange bool
}

// candidate is who an attempt may be; nil for a name that nobody has.
type candidate struct {
	account store.Account
	enabled bool
	loginIP string
	hash    string // "" without a password
}

// errWrong is the one answer to an unknown name, a disabled user and a wrong password.
var errWrong = errs.New(errs.Unauthenticated, "the user name or the password is wrong").Coded("wrong_credentials")

// Login signs a user in. An unknown name, a disabled user and a wrong password
// each cost one comparison and get the same answer; too many attempts are
// refused before any comparison, whether the name exists or not.
func (a *Auth) Login(in Attempt) (g *Grant, err error) {
	defer func() { a.stats.login(in.App, err) }()
	var who *candidate
	var tries int
	var window time.Duration
	device := a.useDevice(in.Device)
	defer device.end()
	err = a.db.View(store.Nobody, func(tx *store.Tx) (err error) {
		tries = store.LoginTries.Get(tx)
		window = time.Duration(store.LoginWindowMinutes.Get(tx)) * time.Minute
		if who, err = find(tx, in.App, in.Username); err == nil && who != nil {
			err = device.find(tx, who.account)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if unnamed := a.unnamed(in); who == nil { // made for every name, so that it takes the same time
		in = unnamed
	}
	at := newAttempt(watched{a.counters, in.Observe}, realm(in.App), in.key(), in.Addr, window)
	at.device, at.addressFull = device.valid(), in.AddressFull
	wait := at.begin(tries, func() bool { return who != nil && who.loginIP == in.Addr.String() })
	if wait > 0 {
		a.throttled.note(in)
		return nil, a.tooMany(throttledLogin, wait)
	}
	hash, p := "", strangerAt(in.Addr)
	if who != nil {
		hash = who.hash
	}
	if device.valid() {
		p = knownAs(who.account)
	}
	p.spent = in.Hashing
	same, err := a.hasher.compare(p, hash, in.Password)
	if err != nil {
		at.withdraw()
		return nil, err
	}
	if !same || !who.enabled {
		return nil, a.failed(in, who, same, device)
	}
	fresh := ""
	if a.hasher.stale(hash) {
		if fresh, err = a.hasher.hash(p, in.Password); err != nil {
			at.withdraw()
			return nil, err
		}
	}
	grant, err := a.grant(who.account, hash, fresh, in, device)
	if err == nil {
		at.succeeded()
	}
	return grant, err
}

func realm(app bool) string {
	if app {
		return "app"
	}
	return "admin"
}

func (a *Auth) tooMany(what string, wait time.Duration) error {
	a.stats.throttled[what].Add(1)
	return errs.New(errs.TooMany, "too many attempts; try again in %s", wait.Round(time.Second)).After(wait)
}

// find returns nothing, without an error, for a name that nobody has.
func find(tx *store.Tx, app bool, username string) (*candidate, error) {
	var who *candidate
	if app {
		u, err := store.AppUserByName.Get(tx, store.Fold(username))
		if err != nil {
			return nil, unlessNone(err)
		}
		who = &candidate{account: store.Account{App: true, ID: u.ID}, enabled: bool(u.Status), loginIP: u.LoginIP}
	} else {
		u, err := store.UserByName.Get(tx, store.Fold(username))
		if err != nil {
			return nil, unlessNone(err)
		}
		who = &candidate{account: store.Account{ID: u.ID}, enabled: bool(u.Status), loginIP: u.LoginIP}
	}
	h, err := store.HashOf(tx, who.account)
	if err == nil {
		who.hash = h.Hash
	}
	return who, unlessNone(err) // an imported user has no password before one is set
}

func unlessNone(err error) error {
	if errs.Is(err, errs.NotFound) {
		return nil
	}
	return err
}

// failed logs a failed attempt and returns what its maker is told.
func (a *Auth) failed(in Attempt, who *candidate, same bool, device *deviceUse) error {
	row := logRow(in, store.LoginFailed)
	switch {
	case who == nil:
		row.Reason = "unknown_user"
	case same:
		row.Reason = "disabled"
	default:
		row.Reason = "wrong_password"
	}
	if who != nil {
		name(row, who.account)
	}
	err := a.db.Update(store.System, func(tx *store.Tx) error {
		return errors.Join(store.LoginLogs.Create(tx, row), device.failed(tx))
	})
	if errs.Is(err, errs.Full) {
		a.held.note(row)
		err = nil
	}
	if err != nil {
		return err
	}
	return errWrong
}

// logRow is the login log's row of an attempt.
func logRow(in Attempt, result string) *store.LoginLog {
	ua := useragent.Parse(in.UserAgent)
	return &store.LoginLog{
		Username: in.Username, Fingerprint: in.fingerprint, Realm: realm(in.App), Result: result, IP: in.Addr.String(), Count: 1,
		Browser: version(ua.Name, ua.Version), OS: version(ua.OS, ua.OSVersion),
	}
}

func version(name, version string) string {
	text := name
	if name != "" && version != "" {
		text += " " + version
	}
	return text[:min(len(text), 100)]
}

func name(row *store.LoginLog, account store.Account) {
	if account.App {
		row.AppUserID = account.ID
	} else {
		row.UserID = account.ID
	}
}

// grant opens the session, if nothing has changed since the password was compared.
func (a *Auth) grant(account store.Account, hash, fresh string, in Attempt, device *deviceUse) (*Grant, error) {
	var g *Grant
	err := a.db.Update(store.System, func(tx *store.Tx) error {
		stored, err := store.HashOf(tx, account)
		if errs.Is(err, errs.NotFound) || err == nil && stored.Hash != hash {
			return errWrong
		}
		if err != nil {
			return err
		}
		mustChange, err := signedIn(tx, account, in.Addr.String())
		if err != nil {
			return err
		}
		if fresh != "" {
			_, err := store.PasswordHashes.Update(tx, stored.ID, func(h *store.PasswordHash) error { h.Hash = fresh; return nil })
			if err != nil {
				return err
			}
		}
		g, err = open(tx, account, in, device)
		if err == nil {
			g.MustChange = mustChange
		}
		return err
	})
	if errs.Is(err, errs.Full) {
		return a.hold(account, hash, in, err)
	}
	return g, err
}

// open opens a session, makes the device known and logs the success.
func open(tx *store.Tx, account store.Account, in Attempt, device *deviceUse) (*Grant, error) {
	row := logRow(in, store.LoginSucceeded)
	session := &store.Session{IP: row.IP, Browser: row.Browser, OS: row.OS}
	if account.App {
		session.AppUserID = account.ID
	} else {
		session.UserID = account.ID
	}
	token, err := Open(tx, session)
	if err != nil {
		return nil, err
	}
	known, err := device.succeeded(tx, account)
	if err != nil {
		return nil, err
	}
	row.SessionID = session.ID
	name(row, account)
	return &Grant{Token: token, Device: known, ExpiresAt: session.ExpiresAt}, store.LoginLogs.Create(tx, row)
}

// signedIn notes a sign-in on the user's record; the answer is errWrong when the
// user has been disabled in between.
func signedIn(tx *store.Tx, account store.Account, ip string) (mustChange bool, err error) {
	if account.App {
		u, err := store.AppUsers.Touch(tx, account.ID, func(u *store.AppUser) error {
			u.LoginIP, u.LoginTime = ip, tx.Now()
			return wrongUnless(u.Status)
		})
		if err != nil {
			return false, err
		}
		return bool(u.MustChangePassword), nil
	}
	u, err := store.Users.Touch(tx, account.ID, func(u *store.User) error {
		u.LoginIP, u.LoginTime = ip, tx.Now()
		return wrongUnless(u.Status)
	})
	if err != nil {
		return false, err
	}
	return bool(u.MustChangePassword), nil
}

func wrongUnless(enabled store.Flag) error {
	if !enabled {
		return errWrong
	}
	return nil
}

// Register makes an app user and signs them in, where the settings allow it. It is
// throttled by address before anything is hashed.
func (a *Auth) Register(u *store.AppUser, in Attempt) (*Grant, error) {
	var wait time.Duration
	err := a.db.View(store.Nobody, func(tx *store.Tx) error {
		if !store.AppRegistration.Get(tx) {
			return errs.New(errs.Denied, "registration is closed").Coded("registration_closed")
		}
		window := time.Duration(store.LoginWindowMinutes.Get(tx)) * time.Minute
		n, left := watched{a.counters, in.Observe}.add("register "+Network(in.Addr), 1, window)
		limit := store.LoginTries.Get(tx) * triesPerAddress
		if n > limit {
			wait = left
		}
		if n >= limit && in.AddressFull != nil {
			in.AddressFull()
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if wait > 0 {
		return nil, a.tooMany(throttledRegistration, wait)
	}
	p := strangerAt(in.Addr)
	p.spent = in.Hashing
	secret, err := a.newSecret(p, u.Username, "password", &in.Password)
	if err != nil {
		return nil, err
	}
	var g *Grant
	err = a.db.Update(store.System, func(tx *store.Tx) error {
		created := *u // the function may run again
		created.LoginIP, created.LoginTime = in.Addr.String(), tx.Now()
		if err := store.AppUsers.Create(tx, &created); err != nil {
			return err
		}
		account := store.Account{App: true, ID: created.ID}
		if err := store.SetHash(tx, account, secret.Hash, false, 0); err != nil {
			return err
		}
		g, err = open(tx, account, in, &deviceUse{})
		return err
	})
	return g, err
}
