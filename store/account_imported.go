package store

import (
	"slices"
	"strings"

	"reeve/store/errs"
	"reeve/store/fold"
	"reeve/store/kv"
)

// ImportedHash marks the hash of a password that another program has made: the rest is the text
// that this program has stored. Package auth verifies it in another way than its own hashes, and
// replaces it by one of these when the user signs in.
const ImportedHash = "import:"

// Imported reports whether another program has made the hash.
func (h *PasswordHash) Imported() bool { return strings.HasPrefix(h.Hash, ImportedHash) }

// SealHash encrypts the hash of a user who does not exist yet, for the steps of a job. It can be
// opened only for this username.
func SealHash(tx *Tx, username, hash string) (kv.Sealed, error) {
	return tx.Seal(hashPlace(username), hash)
}

// hashPlace is the place that the hash of an imported user is bound to, see kv.Tx.Seal.
func hashPlace(username string) string { return "imported password of " + fold.Lower(username) }

// ImportHash stores a hash that SealHash has encrypted, for a user who was just created. The steps
// of a job are not sealed again when the key is rotated, so that a job which was interrupted by
// that can fail.
func ImportHash(tx *Tx, a Account, username string, sealed kv.Sealed) error {
	hash, err := tx.Unseal(hashPlace(username), sealed)
	if err != nil {
		return errs.Field(errs.Conflict, "password_hash",
			"can't be decrypted, because the secret key has changed; import the file again").Because(err)
	}
	h := &PasswordHash{Hash: hash}
	h.UserID, h.AppUserID = a.IDs()
	return PasswordHashes.Create(tx, h)
}

// OwnerHash returns the error that a user with some roles can't have an imported hash; nil if the
// user can. An attacker who has the other program's database could try passwords on it, and the
// owner role has all permissions.
func OwnerHash(roles []ID) error {
	if !slices.Contains(roles, OwnerRole) {
		return nil
	}
	return errs.Field(errs.Invalid, "password_hash",
		"is not accepted for a user with the owner role")
}

// checkOwnerHash rejects giving the owner role to a user whose password is an imported one. Repairs
// may do so, or else no one could be left to sign in.
func checkOwnerHash(tx *Tx, old, new *User) error {
	if old == nil || new == nil || ActorOf(tx).system || slices.Contains(old.RoleIDs, OwnerRole) ||
		!slices.Contains(new.RoleIDs, OwnerRole) {
		return nil
	}
	h, err := HashOf(tx, Account{ID: new.ID})
	if err != nil {
		return ignoreMissing(err)
	}
	if h.Imported() {
		return errs.Field(errs.Conflict, "role_ids",
			"can't have the owner role yet: the user has an imported password, and must sign in with it first").Coded("imported_password")
	}
	return nil
}
