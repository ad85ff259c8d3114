package store

import (
	"errors"
	"path/filepath"

	"reeve/store/disk"
	"reeve/store/errs"
)

// room refuses n more bytes when they would go beyond the quota, or leave less
// free on the disk than must stay: records, sign-ins and deletions need room too,
// and a disk that is full to the brim takes none of them. Pages of the file that
// are free count as room.
func (b *blobs) room(n int64) error {
	quota, floor := b.limits()
	if quota > 0 && b.stored.Load()+b.coming.Load()+n > quota {
		return errs.New(errs.Full, "the quota of %d MiB for files is used up; delete files, also from the trash", quota>>20).Coded("quota_used_up")
	}
	if floor == 0 {
		return nil
	}
	free, err := disk.FreeSpace(filepath.Dir(b.path))
	if errors.Is(err, disk.ErrSpaceUnknown) {
		return nil
	}
	if err != nil {
		return err
	}
	stats := b.bolt.Stats()
	free += int64(stats.FreePageN+stats.PendingPageN) * blobPageSize
	if free-n < floor {
		return errs.New(errs.Full, "the disk has less than %d MiB left, which are kept free; delete files, also from the trash, or make room", floor>>20).Coded("disk_low")
	}
	return nil
}
