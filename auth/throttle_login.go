package auth

import "time"

// loginThrottle limits the sign-ins of one attempt. An app user can be named by a username, an
// e-mail address and a mobile number, so attempts count twice: for the typed name, exactly like an
// unknown name, and for the account.
//
// Both are needed. Without the count of the account, three names would give three times the
// attempts. And if that count alone were used, the answer 429 to one name after attempts with
// another would tell that both name the same person. So an attempt beyond the limit of the account
// is barred instead: it fails like a wrong password, after a comparison that cannot succeed.
type loginThrottle struct {
	typed   *throttleCheck
	account *throttleCheck // nil in the admin realm, where users have one name
	barred  bool
}

// accountMark precedes the ID of an account in the keys of counters. No username contains it.
const accountMark = "@"

// identify replaces the name of an attempt by one that may be stored: the username of the user whom
// it names, or else a fingerprint. typed is the key by which the text is rate-limited.
func (a *Auth) identify(in Attempt, who *candidate) (named Attempt, typed string) {
	unnamed := a.withFingerprint(in) // computed for every name, so that all take the same time
	switch {
	case who == nil:
		return unnamed, unnamed.key()
	case who.alias:
		typed = unnamed.key()
	default:
		typed = in.key()
	}
	in.Username = who.name
	return in, typed
}

func (a *Auth) newLoginThrottle(in Attempt, typed string, who *candidate, device bool,
	window time.Duration) *loginThrottle {
	c := observedCounters{a.counters, in.Observe}
	t := &loginThrottle{typed: newThrottleCheck(c, realm(in.App), typed, in.Addr, window)}
	t.typed.device, t.typed.addressFull = device, in.AddressFull
	if in.App {
		t.account = newThrottleCheck(c, realm(in.App), accountKey(who, typed), in.Addr, window)
		t.account.device, t.account.addr = device, "" // the address is counted once
	}
	if who != nil {
		t.typed.who = who.account
		if t.account != nil {
			t.account.who = who.account
		}
	}
	return t
}

// accountKey is the key of the counters of an account. Unknown names have one, too, so that
// attempts with them take as long.
func accountKey(who *candidate, typed string) string {
	if who == nil {
		return accountMark + typed
	}
	return accountMark + who.account.ID.String()
}

// begin counts the attempt and returns how long to wait; 0 means proceed.
func (t *loginThrottle) begin(tries int, known func() bool) time.Duration {
	wait := t.typed.begin(tries, known)
	if wait == 0 && t.account != nil {
		t.barred = t.account.begin(tries, known) > 0
	}
	return wait
}

func (t *loginThrottle) succeeded() {
	t.typed.succeeded()
	if t.account != nil {
		t.account.succeeded()
	}
}

// withdraw undoes the count of an attempt that was not decided.
func (t *loginThrottle) withdraw() {
	t.typed.withdraw()
	if t.account != nil {
		t.account.withdraw()
	}
}
