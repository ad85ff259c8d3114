package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"

	"reeve/store"
	"reeve/store/fold"
)

// Users type passwords into the username field by mistake. A name that no user has is
// therefore never stored: not in the login log, not in monitoring, not in the log. Its
// fingerprint is stored instead, which is enough to recognize repeated attempts.

// fingerprintLabel separates the fingerprint key from other keys derived from the same
// secret.
const fingerprintLabel = "reeve fingerprint of an unknown user name"

// fingerprintBytes is small enough that different texts can share a fingerprint, so
// that it proves nothing about a text, and large enough that in practice two attempts
// with the same fingerprint used the same text.
const fingerprintBytes = 8

// fingerprintKey derives the fingerprint key from the installation's password key.
func fingerprintKey(passwordKey []byte) []byte { return keyed(passwordKey, fingerprintLabel) }

// fingerprint returns 16 hexadecimal digits, computed with a key of this installation.
// It ignores case, as usernames do.
func (a *Auth) fingerprint(text string) string {
	return hex.EncodeToString(keyed(a.fingerprints, fold.Key(text))[:fingerprintBytes])
}

func keyed(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

// fingerprintMark precedes a fingerprint that is shown in place of a name. No username
// contains it.
const fingerprintMark = "#"

// LoggableName returns the form of a typed username that may be stored and logged: the
// name if a user has it, the username of the app user whom another text names, otherwise
// # and its fingerprint. It also returns the fingerprint if the users cannot be read.
func (a *Auth) LoggableName(app bool, typed string) string {
	shown := fingerprintMark + a.fingerprint(typed)
	a.db.View(store.Anonymous, func(tx *store.Tx) error {
		who, err := find(tx, app, typed)
		if who != nil {
			shown = who.name
		}
		return err
	})
	return shown
}

// withFingerprint replaces the name of an attempt, which no user has, by its
// fingerprint.
func (a *Auth) withFingerprint(in Attempt) Attempt {
	in.Username, in.fingerprint = "", a.fingerprint(in.Username)
	return in
}

// key returns the name or fingerprint by which the attempt is rate-limited.
func (in *Attempt) key() string {
	if in.fingerprint != "" {
		return fingerprintMark + in.fingerprint
	}
	return fold.Key(in.Username)
}
