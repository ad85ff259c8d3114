package store

import "reeve/store/disk"

// freelistFrom is the size in bytes from which a file's list is written.
const freelistFrom = 64 << 20

// saveFreelist writes the list when the database is closed, after the last transaction. Its
// commit contains no changes: if it fails, only the next start is slower.
func (db *DB) saveFreelist() {
	if _, reason := db.failed.since(); reason != nil || !db.started {
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
		defer btx.Rollback() // does nothing after the commit
		if btx.Size() < from {
			return nil
		}
		db.bolt.NoFreelistSync = false
		return btx.Commit()
	})
}
