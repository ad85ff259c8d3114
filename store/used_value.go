package store

import (
	"errors"
	"time"

	"reeve/store/errs"
	"reeve/store/kv"
)

// UsedValue is a value that was used and can't be used again, or was tried with a wrong code: a code, a
// challenge, or the token of a sign-in. What it stands for is in the value itself, which a client holds,
// encrypted or signed. It is stored in the transaction of the change that it allows, so that of several
// uses at the same time one wins, on all nodes.
type UsedValue struct {
	Ident
	Hash      string `json:"hash"`   // SHA-256, hexadecimal
	Kind      string `json:"kind"`   // purpose, by which the number is limited
	Used      Flag   `json:"used"`   // whether it was used, not only tried
	Tries     int    `json:"tries"`  // number of wrong codes
	Opened    ID     `json:"opened"` // session that a return code has opened; 0 for none
	ExpiresAt Time   `json:"expires_at"`
	kv.Timestamps
}

// UsedValues and their indexes.
var (
	UsedValues      = kv.NewCollection[UsedValue]("used_value").Unlogged()
	UsedValueByHash = kv.NewUnique(UsedValues, "hash", func(v *UsedValue) string { return v.Hash })
	UsedValueByKind = kv.NewEach(UsedValues, "kind", func(v *UsedValue) string { return v.Kind })
	UsedValueByEnd  = kv.NewEach(UsedValues, "expires_at", func(v *UsedValue) Time {
		return v.ExpiresAt
	})
)

const maxUsedValues = 50_000 // of one kind that have not expired

// ErrUsed rejects a value that was used. Callers replace it by an error that says what it was.
var ErrUsed = errors.New("the value was used")

// StateOfValue returns what is known of a value; the zero value if it was neither used nor tried.
func StateOfValue(tx *Tx, hash string) (UsedValue, error) {
	v, err := UsedValueByHash.Get(tx, hash)
	if errs.Is(err, errs.NotFound) {
		return UsedValue{}, nil
	}
	if err != nil {
		return UsedValue{}, err
	}
	return *v, nil
}

// UseValue uses up a value. The error is ErrUsed if it was used. v needs Hash, Kind and ExpiresAt, the
// end of its life; the value must be refused afterwards without a row.
func UseValue(tx *Tx, v UsedValue) error {
	v.Used = true
	old, err := StateOfValue(tx, v.Hash)
	switch {
	case err != nil:
		return err
	case bool(old.Used):
		return ErrUsed
	case old.ID != 0:
		_, err = UsedValues.UpdateQuietly(tx, old.ID, func(row *UsedValue) error {
			row.Used, row.Opened = true, v.Opened
			return nil
		})
		return err
	}
	return addUsed(tx, v)
}

// CountTry counts a wrong code that was sent with a value, see UseValue.
func CountTry(tx *Tx, v UsedValue) error {
	old, err := StateOfValue(tx, v.Hash)
	if err != nil {
		return err
	}
	if old.ID == 0 {
		v.Tries = 1
		return addUsed(tx, v)
	}
	_, err = UsedValues.UpdateQuietly(tx, old.ID, func(row *UsedValue) error {
		row.Tries++
		return nil
	})
	return err
}

// addUsed stores a value, and forgets some that have expired.
func addUsed(tx *Tx, v UsedValue) error {
	if _, err := ForgetUsed(tx, 3); err != nil { // more than are added
		return err
	}
	n, err := UsedValueByKind.Count(tx, v.Kind)
	if err == nil && n >= maxUsedValues {
		err = errs.New(errs.Busy, "too many sign-ins at once; try again in a moment").After(time.Minute)
	}
	if err != nil {
		return err
	}
	return UsedValues.Create(tx, &v)
}

// ForgetUsed deletes up to limit values that have expired. It reports whether there may be more.
func ForgetUsed(tx *Tx, limit int) (more bool, err error) {
	old, err := UsedValueByEnd.Below(tx, tx.Now(), limit)
	for _, id := range old {
		if err == nil {
			err = UsedValues.Delete(tx, id)
		}
	}
	return len(old) == limit, err
}
