package store

import (
	"errors"

	"reeve/store/disk"
)

// table is a Collection without its type, as the machinery sees it.
type table interface {
	tableName() string
	noun() string
	buckets() []string
	Exists(tx *Tx, id ID) bool
	verify(tx *Tx, report *Report)
	newest(tx *Tx) (Time, error)
	visitSealed(tx *Tx, after ID, limit int, visit func(sealedValue) error) (last ID, err error)
	undeclaredSealed() []string
	mend(tx *Tx, s *salvage) (changed bool, err error)
	reindex(tx *Tx) error
	searchedIn() *searchBuckets
}

func (c *Collection[T]) tableName() string { return c.name }

func (c *Collection[T]) buckets() []string {
	names := []string{c.name}
	for _, x := range c.indexes {
		names = append(names, x.bucket)
	}
	if c.search != nil {
		names = append(names, c.search.bucket, c.search.changes)
	}
	return names
}

// searchedIn returns the buckets of a collection's Search, nil for none.
func (c *Collection[T]) searchedIn() *searchBuckets {
	if c.search == nil {
		return nil
	}
	return &c.search.searchBuckets
}

// schema is everything a database file of this program holds.
type schema struct {
	tables     []table
	caches     []anyCache
	migrations []migration
	// current is an actor as the data has it at this moment; nil for as it is.
	current func(tx *Tx, a *Actor) (*Actor, error)
}

// reeve lists every collection and cache. What is not here does not exist.
var reeve = schema{
	tables: []table{
		Installs, Permissions, Roles, Depts, Users, AppUsers, PasswordHashes, Sessions, SessionTokens, Devices, LoginLogs,
		SettingGroups, Settings, SettingSecrets,
		Dicts, DictItems,
		FileGroups, Files, Avatars,
		Jobs, JobSteps,
	},
	caches:  []anyCache{RuleBook, PermissionTree, SettingSet, DictSet},
	current: currentActor,
	migrations: []migration{ // version 1 is the first
		{"users, roles and departments are searched, filtered and sorted", func(tx *Tx) error {
			return errors.Join(Users.reindex(tx), AppUsers.reindex(tx), PasswordHashes.reindex(tx), Roles.reindex(tx), Sessions.reindex(tx))
		}},
		{"dictionaries", func(*Tx) error { return nil }},
		{"files and avatars", func(*Tx) error { return nil }}, // new collections need their buckets alone
		{"files in no group are found", Files.reindex},
		{"jobs", func(*Tx) error { return nil }},
		{"sealed values name their key", func(*Tx) error { return nil }}, // when the database is opened, the key is known
		{"devices from which users have signed in", func(*Tx) error { return nil }},
		{"rows of the login log have a fingerprint and a time of the attempt", func(*Tx) error { return nil }},
		{"records have versions", func(*Tx) error { return nil }}, // 0 until they are changed
		{"texts have an index", func(*Tx) error { return nil }},   // made when the database is open
	},
}

// version is the schema's number, which grows by one with every migration.
func (s *schema) version() int { return 1 + len(s.migrations) }

func (s *schema) bucketNames() []string {
	names := []string{countBucket, disk.MetaBucket}
	for _, t := range s.tables {
		names = append(names, t.buckets()...)
	}
	return names
}
