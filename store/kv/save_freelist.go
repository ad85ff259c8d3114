package kv

import "reeve/store/disk"

// freelistFrom is the minimum size in bytes of a file whose list of free pages is written when
// it is closed.
const freelistFrom = 64 << 20

// saveFreelist writes the list of free pages when the database is closed, after the last
// transaction. The commit has no other changes: if it fails, only the next start is slower.
func (db *DB) saveFreelist() {
	if _, reason := db.failed.Since(); reason != nil || !db.started {
		return
	}
	_ = disk.RecoverDamage(db.path, func() error {
		btx, err := db.bolt.Begin(true)
		if err != nil {
			return err
		}
		from := int64(freelistFrom)
		if n := db.options.freelistFrom; n > 0 {
			from = n
		}
		defer btx.Rollback() // no effect after a commit
		if btx.Size() < from {
			return nil
		}
		db.bolt.Bolt().NoFreelistSync = false
		return btx.Commit()
	})
}
