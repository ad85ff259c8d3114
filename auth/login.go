package auth

import (
	"encoding/json"
	"net/netip"
	"strings"
	"time"

	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// Attempt is one attempt to sign in or register.
type Attempt struct {
	App                bool // sign in to the app realm instead of the admin realm
	Username, Password string
	Addr               netip.Addr
	UserAgent          string
	Program            bool   // is no browser, so that it is no device that the user would recognize
	Device             string // token of a device that the user has signed in from; "" for none
	// Observe, if not nil, is called for each operation on the rate-limit counters,
	// before Login or Register returns.
	Observe func(kv.CacheEvent)
	// Hashing, if not nil, receives the time spent on hashing.
	Hashing *HashTime
	// AddressFull, if not nil, is called when the client address has used up its
	// attempts.
	AddressFull func()
	// Failed, if not nil, is called when an attempt for a known user fails.
	Failed func()
	// MailReady, if not nil, returns an error if mails with links can't be sent. It is for
	// registrations.
	MailReady func(*store.Tx) error
	Language  string // language of a mail: en or zh
	Solution  string // solution of a challenge, for a registration, see Challenge
	Provider  string // title of the provider that the person comes from; "" for none

	fingerprint string // set if no user has the name; Username is empty then
}

// Grant is the result of a successful sign-in, or of its first step.
type Grant struct {
	Token      string
	Device     string // device token to send with the next attempt
	ExpiresAt  store.Time
	MustChange bool
	Provider   string // title of the provider that the person comes from; "" for none
	Pending    string // token for LoginCode or LoginPasskey, if the user has a second factor; Token is empty then

	Methods []string        // methods that complete a pending sign-in: ByPasskey, ByCode, ByRecovery
	Options json.RawMessage // browser's options to get a passkey; nil without one
}

// candidate is the user whom an attempt names; nil if there is none.
type candidate struct {
	account store.Account
	name    string // username: as typed, unless an app user was named in another way
	alias   bool   // named by an e-mail address or a mobile number
	enabled bool
	pending bool // registered, but not confirmed: not enabled
	loginIP string
	hash    string // "" without a password
	off     bool   // passwords are turned off for the account
}

// errWrong is returned for an unknown name, a disabled user and a wrong password alike.
var errWrong = errs.New(errs.Unauthenticated, "wrong username or password").Coded("wrong_credentials")

// Login signs a user in. An unknown name, a disabled user and a wrong password each cost one
// comparison and return the same error, or up to three for a password outside ASCII, see forms.
// Rate-limited attempts are rejected before any comparison, whether the name exists or not. A
// comparison with an imported hash takes the time of this hash, until the user has signed in for
// the first time: this tells at most that an account was imported and has not been used since.
//
// For a user with a second factor, it returns a pending sign-in, which LoginCode completes.
func (a *Auth) Login(in Attempt) (g *Grant, err error) {
	defer func() {
		if err != nil || g.Pending == "" {
			a.stats.login(in.App, err)
		}
	}()

	var who *candidate
	var tries int
	var window time.Duration
	device := a.useDevice(in.Device)
	defer device.end()
	if err := a.unlock(); err != nil {
		return nil, err
	}
	err = a.db.View(store.Anonymous, func(tx *store.Tx) (err error) {
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

	in, name := a.identify(in, who)
	at := a.newLoginThrottle(in, name, who, device.valid(), window)
	wait := at.begin(tries, func() bool { return who != nil && who.loginIP == in.Addr.String() })
	if wait > 0 {
		a.throttled.count(in)
		return nil, a.tooMany(throttledLogin, wait)
	}

	hash, p := "", unknownCaller(in.Addr)
	if who != nil && !at.barred {
		hash = who.hash
	}
	if device.valid() {
		p = knownCaller(who.account)
	}

	p.timing = in.Hashing
	same, earlier, err := a.hasher.match(p, hash, in.Password)
	if err != nil {
		at.withdraw()
		return nil, err
	}
	if !same || !who.enabled || who.off {
		return nil, a.failed(in, who, failure(who, same, at.barred), device, refusal(who, same))
	}

	fresh := ""
	if earlier || a.hasher.stale(hash) {
		if fresh, err = a.hasher.hash(p, in.Password); err != nil {
			at.withdraw()
			return nil, err
		}
	}

	proof := loginProof{hash: hash, fresh: fresh}
	g, err = a.grant(who.account, &proof, in, device)
	if err != nil {
		return nil, err
	}

	at.succeeded()
	if g == nil {
		return a.suspend(who.account, &pendingLogin{Name: in.Username, Fresh: fresh, Since: fixed(proof.seen)}, &in)
	}

	return g, nil
}

func realm(app bool) string { return store.Account{App: app}.Realm() }

func (a *Auth) tooMany(operation string, wait time.Duration) error {
	a.stats.throttled[operation].Add(1)
	return errs.New(errs.TooMany, "too many attempts; try again in %d seconds",
		max(1, int(wait.Round(time.Second)/time.Second))).After(wait)
}

// find returns nil, without an error, if what was typed names no user.
func find(tx *store.Tx, app bool, typed string) (*candidate, error) {
	who := &candidate{account: store.Account{App: app}, name: typed}
	if app {
		u, byName, err := store.AppUserBySignIn(tx, typed)
		if err != nil {
			return nil, err
		}
		if u != nil {
			who.account.ID, who.loginIP, who.pending = u.ID, u.LoginIP, bool(u.Pending)
			who.enabled = bool(u.Status) && !who.pending
		}
		if who.alias = u != nil && !byName; who.alias ||
			u != nil && !strings.EqualFold(typed, u.Username) {
			who.name = u.Username
		}
	} else {
		u, err := store.UserByName.Get(tx, typed)
		if err := ignoreNotFound(err); err != nil {
			return nil, err
		}
		if u != nil {
			who.account.ID, who.enabled, who.loginIP = u.ID, bool(u.Status), u.LoginIP
			if !strings.EqualFold(typed, u.Username) { // with invisible characters, for example
				who.name = u.Username
			}
		}
	}

	var err error
	if who.off, err = store.PasswordsOff(tx, who.account); err != nil {
		return nil, err
	}
	who.hash, err = store.StoredHash(tx, who.account) // an imported user has no password until one is set
	if who.account.ID == 0 {
		who = nil
	}

	return who, err
}

func ignoreNotFound(err error) error {
	if errs.Is(err, errs.NotFound) {
		return nil
	}
	return err
}

// familiar reports whether a program signs in from a network of the user's devices.
func (in *Attempt) familiar(tx *store.Tx, account store.Account, at store.Client) (bool, error) {
	if !in.Program {
		return false, nil
	}
	return store.KnowsNetwork(tx, account, at)
}

// open opens a session, registers the device and logs the success. It tells the user of a sign-in
// on a new device or from a new network, unless it is the first one.
func open(tx *store.Tx, account store.Account, in Attempt, device *deviceUse,
	first bool, proof *loginProof) (*Grant, error) {
	row := logRow(in, store.LoginSucceeded)
	at := store.Client{Browser: row.Browser, OS: row.OS, IP: row.IP, Provider: row.Provider}
	familiar, err := in.familiar(tx, account, at)
	if err != nil {
		return nil, err
	}

	known, deviceID, unknown, err := device.succeeded(tx, account, at)
	if err != nil {
		return nil, err
	}

	session := &store.Session{DeviceID: deviceID, IP: row.IP, Browser: row.Browser, OS: row.OS,
		Provider: row.Provider, Means: proof.means()}
	session.UserID, session.AppUserID = account.IDs()
	if proof.arrival != nil && !account.App {
		session.ExpiresAt = providerSessionEnd(tx)
	}
	if proof.arrival != nil && proof.code == nil && proof.passkey == nil && !proof.arrival.AuthTime.IsZero() {
		session.ProvedAt = kv.TimeOf(proof.arrival.AuthTime) // the provider may have asked for nothing today
	}
	token, err := Open(tx, session)
	if err == nil {
		err = proof.signedInWith(tx, session.ID)
	}
	if err != nil {
		return nil, err
	}
	if unknown == store.NewDevice && in.Program {
		unknown = store.NewNetwork // a program is no device of a person; the network is new, unless it is familiar
	}
	if unknown != "" && !familiar && !first && !account.App {
		err = store.TellSignIn(tx, account.ID, store.Notice{
			Kind:      unknown,
			Browser:   at.Browser,
			OS:        at.OS,
			IP:        at.IP,
			Provider:  at.Provider,
			SessionID: session.ID,
			DeviceID:  deviceID,
		}, in.Language)
		if err != nil {
			return nil, err
		}
	}

	row.SessionID = session.ID
	row.UserID, row.AppUserID = account.IDs()
	return &Grant{Token: token, Device: known, ExpiresAt: session.ExpiresAt, Provider: in.Provider},
		store.LoginLogs.Create(tx, row)
}

// signedIn records a sign-in on the user, and reports whether it is the first. It returns errWrong
// if the user has been disabled since the password was compared.
func signedIn(tx *store.Tx, account store.Account, ip string) (mustChange, first bool, err error) {
	if account.App {
		u, err := store.AppUsers.UpdateQuietly(tx, account.ID, func(u *store.AppUser) error {
			u.LoginIP, u.LoginTime = ip, tx.Now()
			return wrongUnlessEnabled(u.Status && !u.Pending)
		})
		if err != nil {
			return false, false, err
		}
		return bool(u.MustChangePassword), false, nil
	}

	u, err := store.Users.UpdateQuietly(tx, account.ID, func(u *store.User) (err error) {
		first = u.LoginTime == 0
		u.LoginIP, u.LoginTime = ip, tx.Now()
		if u.FactorDue, err = store.DueAtSignIn(tx, u); err != nil {
			return err
		}
		return wrongUnlessEnabled(u.Status)
	})
	if err != nil {
		return false, false, err
	}

	return bool(u.MustChangePassword), first, nil
}

func wrongUnlessEnabled(enabled store.Flag) error {
	if !enabled {
		return errWrong
	}
	return nil
}
