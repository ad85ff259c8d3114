package disk

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// fileSystems are the names of file systems by their number, and why data is at risk in them; ""
// if it is not.
var fileSystems = map[int64][2]string{
	unix.EXT4_SUPER_MAGIC:      {"ext4", ""},
	unix.XFS_SUPER_MAGIC:       {"XFS", ""},
	unix.BTRFS_SUPER_MAGIC:     {"btrfs", ""},
	0x2fc12fc1:                 {"ZFS", ""},
	unix.F2FS_SUPER_MAGIC:      {"F2FS", ""},
	unix.TMPFS_MAGIC:           {"tmpfs", "it is in memory and gone after a restart of the machine"},
	unix.RAMFS_MAGIC:           {"ramfs", "it is in memory and gone after a restart of the machine"},
	unix.OVERLAYFS_SUPER_MAGIC: {"overlayfs", "it is the layer of a container and gone with it"},
	unix.NFS_SUPER_MAGIC:       {"NFS", "locks and syncs of network file systems are unreliable"},
	unix.SMB_SUPER_MAGIC:       {"SMB", "locks and syncs of network file systems are unreliable"},
	unix.SMB2_SUPER_MAGIC:      {"SMB", "locks and syncs of network file systems are unreliable"},
	unix.CIFS_SUPER_MAGIC:      {"CIFS", "locks and syncs of network file systems are unreliable"},
	unix.FUSE_SUPER_MAGIC:      {"FUSE", "whether it keeps what was synced depends on the program behind it"},
	unix.MSDOS_SUPER_MAGIC:     {"FAT", "it has no journal, and permissions do not protect the files"},
}

// FileSystem returns the name of the file system that a directory is in, and why data is at risk
// in it; "" if it is not.
func FileSystem(dir string) (name, risk string) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return "unknown", ""
	}
	if known, ok := fileSystems[int64(uint32(s.Type))]; ok {
		return known[0], known[1]
	}
	return fmt.Sprintf("unknown (%#x)", uint32(s.Type)), ""
}
