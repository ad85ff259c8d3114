package store

import (
	"encoding/json"
	"errors"
	"slices"

	"filippo.io/age"

	"reeve/store/audit"
	"reeve/store/disk"
	"reeve/store/kv"
	"reeve/store/stream"
)

// Names of package kv that nearly every caller of this package needs. The others are used as
// kv.NAME.
type (
	DB        = kv.DB
	Flag      = kv.Flag
	Handle    = kv.Handle
	ID        = kv.ID
	Ident     = kv.Ident
	Time      = kv.Time
	Tx        = kv.Tx
	Versioned = kv.Versioned
)

// Installs holds the description of the installation, with ID 1.
var Installs = kv.Installs

var _ = manage(Access{Table: Installs, Query: "system.info"})

// Options configure a database.
type Options struct {
	// Version is the version of the program. It is stored in the database, so that an older
	// program can say which version is needed.
	Version string
	// Keys are the permission keys that routes need. These permissions cannot be renamed or
	// deleted.
	Keys map[string]bool
	// Confirmed are the permission keys of operations that require a recent proof. Giving one of
	// these permissions to a user requires one, too.
	Confirmed map[string]bool
	// Pages are the paths of the pages that the console has. A permission with such a path cannot
	// have a URL.
	Pages map[string]bool
	// Reserve is the disk space in bytes that is kept for deletions and sign-ins on a full
	// disk; 0 for none.
	Reserve int64
	// Seed fills a new database, in the transaction that creates it.
	Seed func(tx *Tx) error
	// Upgrade runs at every later start, before the database is used.
	Upgrade func(tx *Tx) error
	// Checked is called with the warnings of the verification of large collections, which ends
	// while the database is in use; nil for none. It is called at most once, before Close
	// returns.
	Checked func(warnings []string)

	// Backup is kv.Options.Backup.
	Backup string
	// Files is kv.Options.Files.
	Files *kv.FileStorage
	// ReturnRights lets a restore bring rights back that were withdrawn since.
	ReturnRights bool
	// Taken is kv.Options.Taken.
	Taken bool
	// Interrupted is kv.Options.Interrupted.
	Interrupted func() error
	// Expected is compared with an archive that is restored, see kv.Options.
	Expected *kv.Expected
	// Stream turns the commit stream on. See kv.Options.Stream.
	Stream *kv.StreamOptions
	// CommitLog puts the commits in one order with those of other nodes. See kv.Options.CommitLog.
	CommitLog *kv.CommitLogOptions
	// LeaveCommitLog is kv.Options.LeaveCommitLog.
	LeaveCommitLog bool

	schema *kv.Schema // another one, in tests
	// Origin is the origin of writes that have none, for the change log.
	Origin Origin
	// Log bounds the change log.
	Log kv.LogLimits
	// Progress is kv.Options.Progress.
	Progress func(what string, done, total int64)
	// Migrating is kv.Options.Migrating.
	Migrating func(kv.MigrationState)

	Clock     func() Time // current time; nil for the system clock
	indexFrom int         // see kv.Options.IndexFrom, in tests
	drainFrom uint64      // see kv.Options.DrainingFrom, in tests
}

// DrainingFrom is kv.Options.DrainingFrom.
func (o Options) DrainingFrom(entries uint64) Options {
	o.drainFrom = entries
	return o
}

// program has the properties of the program that constraints depend on.
type program struct {
	keys      map[string]bool // Options.Keys
	confirmed map[string]bool // Options.Confirmed
	pages     map[string]bool // Options.Pages
}

func programOf(tx *Tx) program { return tx.Context().(program) }

func (o Options) engine() kv.Options {
	schema := &reeve
	if o.schema != nil {
		schema = o.schema
	}

	options := kv.Options{
		Schema:    schema,
		Version:   o.Version,
		Context:   program{o.Keys, o.Confirmed, o.Pages},
		Reserve:   o.Reserve,
		Seed:      o.Seed,
		Upgrade:   o.Upgrade,
		Checked:   o.Checked,
		Clock:     o.Clock,
		IndexFrom: o.indexFrom,
		Origin:    &o.Origin,
		Log:       o.Log,
		Progress:  o.Progress,
		Migrating: o.Migrating,
		Files:     o.Files,
		Stream:    o.Stream,
		CommitLog: o.CommitLog,

		LeaveCommitLog: o.LeaveCommitLog,

		Backup:       o.Backup,
		ReturnRights: o.ReturnRights,
		Taken:        o.Taken,
		Interrupted:  o.Interrupted,
		Expected:     o.Expected,
	}
	return options.DrainingFrom(o.drainFrom)
}

// Open opens the database in a directory and creates it if there has never been one. See
// kv.Open.
//
// If a restore has brought back people who had been erased, they are erased again.
func Open(dir string, o Options) (*DB, error) {
	options := o.engine()
	db, err := kv.Open(dir, options)
	if err == nil && slices.Contains(options.Schema.Tables, kv.Table(PersonKeys)) {
		eraseAgain(db)
	}
	return db, err
}

// Restore replaces the database of a directory by a backup. See kv.Restore.
func Restore(dir, backup string, identities []age.Identity, o Options) (kv.Restored, error) {
	return kv.Restore(dir, backup, identities, o.engine())
}

// RestoreContents is Restore for an archive without the content of files. See kv.RestoreContents.
func RestoreContents(dir, backup string, identities []age.Identity, contents kv.Contents, o Options) (kv.Restored, error) {
	return kv.RestoreContents(dir, backup, identities, contents, o.engine())
}

// RestoreMoment is RestoreContents with entries of the commit stream. See kv.RestoreMoment.
func RestoreMoment(dir, backup string, identities []age.Identity, contents kv.Contents, entries kv.Entries, o Options) (kv.Restored, error) {
	return kv.RestoreMoment(dir, backup, identities, contents, entries, o.engine())
}

// Join replaces the database of a directory by a base copy of a cluster. See kv.Join.
func Join(dir, base string, identities []age.Identity, entries kv.Entries, o Options) (kv.Restored, error) {
	return kv.Join(dir, base, identities, entries, o.engine())
}

// CommitPosition returns the position of the data of a directory in the log of commits. See
// kv.CommitPosition.
func CommitPosition(dir string, o Options) (stream.Head, error) {
	return kv.CommitPosition(dir, o.engine())
}

// Compact rewrites the database files of a directory, to reclaim free space. See kv.Compact.
func Compact(dir string, o Options) ([]kv.Compacted, error) { return kv.Compact(dir, o.engine()) }

// RotateKey replaces the key of the secret values, encrypts them again, and returns their
// number. See kv.RotateKey.
func RotateKey(dir string, o Options) (n int, err error) { return kv.RotateKey(dir, o.engine()) }

// Salvage copies the readable data of a damaged database to a new directory. See kv.Salvage.
func Salvage(dir, to string, o Options) (*kv.Salvaged, error) {
	salvaged, err := kv.Salvage(dir, to, o.engine())
	if err == nil {
		err = copyErasedList(dir, to)
	}
	return salvaged, err
}

// VerifyDir verifies the database of a directory that no server is using. See kv.VerifyDir.
func VerifyDir(dir string, o Options) (*kv.Report, error) { return kv.VerifyDir(dir, o.engine()) }

// VerifyLog verifies the change log of a directory. See kv.VerifyLog.
func VerifyLog(dir string, known []audit.Head, o Options) (audit.Result, bool, error) {
	return kv.VerifyLog(dir, known, o.engine())
}

// IsDamage reports whether an error is about damaged data.
func IsDamage(err error) bool {
	var damage *disk.Damaged
	return errors.As(err, &damage)
}

// TreeJSON encodes a tree as a JSON array. See kv.TreeJSON.
func TreeJSON[T any](nodes []*kv.Node[T], brief func(*T) any) (json.RawMessage, error) {
	return kv.TreeJSON(nodes, brief)
}
