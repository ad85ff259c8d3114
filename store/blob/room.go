package blob

import (
	"errors"
	"path/filepath"

	"reeve/store/disk"
	"reeve/store/errs"
)

// Room returns Full if n more bytes would exceed the quota, or leave less than the minimum free
// on the disk: records, sign-ins and deletions need disk space, too, and on a full disk none of
// them succeeds. Free pages inside the file count as free space.
func (b *Store) Room(n int64) error {
	if b.options.Limits == nil {
		return nil
	}

	quota, floor := b.options.Limits()
	if quota > 0 && b.stored.Load()+b.coming.Load()+n > quota {
		return errs.New(errs.Full,
			"the storage quota of %d MiB is used up; delete files, also from the trash", quota>>20).Coded("quota_used_up")
	}
	return b.roomOnDisk(n, floor)
}

// roomOnDisk returns Full if n more bytes would leave less than floor free on the disk; 0 for any.
func (b *Store) roomOnDisk(n, floor int64) error {
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

	stats := b.bolt.Bolt().Stats()
	free += int64(stats.FreePageN+stats.PendingPageN) * PageSize
	if free-n < floor {
		return errs.New(errs.Full,
			"less than %d MiB of disk space is free; delete files, also from the trash, or free disk space", floor>>20).Coded("disk_low")
	}

	return nil
}
