package store

import (
	"cmp"
	"slices"
	"time"

	"reeve/store/errs"
	"reeve/store/kv"
)

// FinishErasure removes an erased person from the other records, in steps, and adds their numbers
// to removed. It can be repeated.
func FinishErasure(db Handle, e *Erasure, removed *ErasedCounts) error {
	var signIns, files, jobs []ID
	err := db.View(System, func(tx *Tx) (err error) {
		who := e.Who()
		signIns, err = ByRealm(who.App, LoginLogByUser, LoginLogByAppUser).IDs(tx, who.ID)
		if err != nil || who.App {
			return err
		}
		if files, err = FileByUploader.IDs(tx, e.UserID); err != nil {
			return err
		}
		jobs, err = JobByUser.IDs(tx, e.UserID)
		return err
	})
	if err != nil {
		return err
	}

	for _, part := range []struct {
		ids   []ID
		count *int64
		clear func(*Tx, ID) error
	}{
		{signIns, &removed.SignIns, LoginLogs.Delete},
		{files, &removed.Files, clearUploader},
		{jobs, &removed.Jobs, clearJobOwner},
	} {
		for few := range slices.Chunk(part.ids, kv.MaxRecordsPerWrite) {
			n, err := clearSome(db, few, part.clear)
			if err != nil {
				return err
			}
			*part.count += n
		}
	}

	return nil
}

// clearSome runs clear for the records that still exist, and returns their number.
func clearSome(db Handle, ids []ID, clear func(*Tx, ID) error) (n int64, err error) {
	err = db.Update(System, func(tx *Tx) error {
		n = 0
		for _, id := range ids {
			err := clear(tx, id)
			if err != nil && !errs.Is(err, errs.NotFound) {
				return err
			}
			if err == nil {
				n++
			}
		}
		return nil
	})
	return n, err
}

func clearUploader(tx *Tx, id ID) error {
	_, err := Files.UpdateQuietly(tx, id, func(f *File) error { f.UploaderName = ""; return nil })
	return err
}

func clearJobOwner(tx *Tx, id ID) error {
	_, err := Jobs.UpdateQuietly(tx, id, func(j *Job) error { j.Username = ""; return nil })
	return err
}

// erasureLife is how long an erasure remains for other nodes, which look for it every minute.
const erasureLife = 10 * time.Minute

// EndErasure ends an erasure that is complete. One of several nodes leaves it for the others for a while, and then its
// line, which a node needs that was away or joins later.
func EndErasure(db Handle, e *Erasure, several bool) error {
	return db.Update(System, func(tx *Tx) error {
		now, err := Erasures.Get(tx, e.ID)
		if err != nil {
			return ignoreMissing(err)
		}
		if !several || now.Line == "" {
			return Erasures.Delete(tx, e.ID)
		}
		_, err = Erasures.UpdateQuietly(tx, e.ID, func(e *Erasure) error {
			if e.DoneAt = cmp.Or(e.DoneAt, tx.Now()); e.DoneAt.Add(erasureLife) < tx.Now() {
				e.Texts = nil
			}
			return nil
		})
		return err
	})
}

// FollowErasures adds the lines of erasures to the list of this node, unless they are there.
func FollowErasures(db *DB, all []*Erasure) error {
	var lines []string
	for _, e := range all {
		if e.Line != "" { // an earlier version left it out
			lines = append(lines, e.Line)
		}
	}
	_, err := MergeErased(db.Dir(), lines)
	return err
}
