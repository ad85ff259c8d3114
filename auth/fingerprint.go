package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"

	"reeve/store"
)

// People type passwords into the field of the user name. So a name that no user has
// is never stored: not in the login log, not in monitoring, not in the log. What is
// stored is its fingerprint, by which repeated attempts are recognized.

// fingerprintLabel makes the key of fingerprints one of its own.
const fingerprintLabel = "reeve fingerprint of an unknown user name"

// fingerprintBytes are few enough that different texts can share a fingerprint, and
// enough that two attempts with the same one were made with the same text.
const fingerprintBytes = 8

// fingerprintKey derives the key of fingerprints from the installation's.
func fingerprintKey(passwordKey []byte) []byte { return keyed(passwordKey, fingerprintLabel) }

// fingerprint returns 16 hexadecimal digits that only this installation can make of
// a text. Upper and lower case make no difference, as in user names.
func (a *Auth) fingerprint(text string) string {
	return hex.EncodeToString(keyed(a.fingerprints, store.Fold(text))[:fingerprintBytes])
}

func keyed(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

// fingerprintMark begins a fingerprint where a name is expected. No user name has it.
const fingerprintMark = "#"

// ShownName returns what may be kept of a name that was typed to sign in or to
// register: the name if a user has it, or else # and its fingerprint, also if the
// users can't be read.
func (a *Auth) ShownName(app bool, typed string) string {
	shown := fingerprintMark + a.fingerprint(typed)
	a.db.View(store.Nobody, func(tx *store.Tx) error {
		who, err := find(tx, app, typed)
		if who != nil {
			shown = typed
		}
		return err
	})
	return shown
}

// unnamed replaces the name of an attempt, which no user has, by its fingerprint.
func (a *Auth) unnamed(in Attempt) Attempt {
	in.Username, in.fingerprint = "", a.fingerprint(in.Username)
	return in
}

// key is what throttling counts the attempt by.
func (in *Attempt) key() string {
	if in.fingerprint != "" {
		return fingerprintMark + in.fingerprint
	}
	return store.Fold(in.Username)
}
