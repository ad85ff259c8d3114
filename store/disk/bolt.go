package disk

import (
	"strconv"
	"time"

	"go.etcd.io/bbolt"
)

// MetaBucket has one framed record, under MetaKey, in which a database file describes itself.
const MetaBucket = "_meta"

// MetaKey is the only key in MetaBucket.
var MetaKey = []byte("file")

// BoltOptions returns the options of every file. Without a synced freelist a commit writes
// less, and an open read transaction costs linear instead of quadratic time; in return bbolt
// walks the pages when it opens the file.
func BoltOptions(readOnly bool) *bbolt.Options {
	return &bbolt.Options{
		Timeout:        time.Second,
		FreelistType:   bbolt.FreelistMapType,
		NoFreelistSync: true,
		NoStatistics:   true,
		ReadOnly:       readOnly,
		MaxSize:        maxFileSize(),
	}
}

// maxFileSize returns the maximum size of a database file in bytes; 0 for no limit. A process of 32
// bits has at most 3 GiB of addresses, and bbolt maps 2 GiB for a file of more than 1.
func maxFileSize() int {
	if strconv.IntSize == 32 {
		return 1 << 30
	}
	return 0
}
