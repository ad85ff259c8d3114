package store

import "reeve/store/kv"

// Unlock is the last time at which the lock-out of an account was ended. The failed sign-ins are
// counted in memory, by each node: a node drops its counts when it gets the row.
type Unlock struct {
	Ident
	UserID    ID   `json:"user_id"`
	AppUserID ID   `json:"app_user_id"`
	At        Time `json:"at"`
	kv.Timestamps
}

// Unlocks and their indexes.
var (
	Unlocks         = kv.NewCollection[Unlock]("unlock").Unlogged()
	UnlockByUser    = refToUser(Unlocks, func(u *Unlock) ID { return u.UserID }, kv.Cascade)
	UnlockByAppUser = refToAppUser(Unlocks, func(u *Unlock) ID { return u.AppUserID }, kv.Cascade)
)

// Account returns the account that was unlocked.
func (u *Unlock) Account() Account { return accountOf(u.UserID, u.AppUserID) }

// UnlockAccount has all nodes drop the failed sign-ins of an account.
func UnlockAccount(tx *Tx, who Account) error {
	ids, err := ByRealm(who.App, UnlockByUser, UnlockByAppUser).IDs(tx, who.ID)
	if err != nil {
		return err
	}
	if len(ids) == 0 {
		u := &Unlock{At: tx.Now()}
		u.UserID, u.AppUserID = who.IDs()
		return Unlocks.Create(tx, u)
	}
	_, err = Unlocks.UpdateQuietly(tx, ids[0], func(u *Unlock) error {
		u.At = max(tx.Now(), u.At+1) // always a change
		return nil
	})
	return err
}
