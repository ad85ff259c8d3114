// Package copies keeps copies of an installation outside of its data directory, at a Target: a
// directory, or a bucket of an S3-compatible service (package s3). Everything that it stores there is
// encrypted to recipients; their identities are not on the server.
//
// Start with Repository, the copies of one installation at one target: Copy adds one, Scan lists
// them, Prune deletes those that are no longer kept, and Prove restores one and examines it. Ship
// stores the commits since, so that each moment can be restored (CommitsAfter). Restore needs an
// identity and the target alone.
//
// What is stored below the name of the installation, the generation of its change log, and a random
// name for each start of a server:
//
//	start                  empty; says when the server started
//	copies/TIME.data       archive of the records, see kv.DB.BackupRecords
//	copies/TIME.erased     list of the people who were erased before; none if there are none
//	copies/TIME.manifest   Manifest, written after all else of the copy was read back
//	copies/TIME.proof      Proof, written after the copy was restored
//	files/RANDOM           content of a file, which is stored once for all copies
//	files/RANDOM.index     list of contents that were stored together
//	stream/PART            part of the commit stream, see package stream
//	erased/HASH            list of the people who were erased, by an earlier version
//
// No object is ever replaced, and an object counts only once a manifest or an index names it. So an
// interruption leaves the copies as they were, and objects that nothing names, which Prune deletes.
package copies

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"time"
)

// Target stores objects by name. Names are paths of printable ASCII characters with slashes.
type Target interface {
	// Put stores an object of size bytes; ErrExists if there is one with this name. After an error
	// there is none, or it is as before.
	Put(ctx context.Context, name string, size int64, content io.Reader) error
	// Get opens an object; fs.ErrNotExist if there is none.
	Get(ctx context.Context, name string) (io.ReadCloser, error)
	// List returns the objects whose names begin with prefix, in the order of their names.
	List(ctx context.Context, prefix string) ([]Object, error)
	// Delete deletes an object. It is no error if there is none.
	Delete(ctx context.Context, name string) error
}

// Object is a stored object.
type Object struct {
	Name     string
	Size     int64
	Modified time.Time // time of storing, by the clock of the target
}

// ErrExists is the error of Put for a name that is in use.
var ErrExists = fmt.Errorf("there is an object with this name: %w", fs.ErrExist)
