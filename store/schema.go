package store

// table is a Collection without its type, as the machinery sees it.
type table interface {
	checkTally(tx *Tx) (broken []error, err error)
	tableName() string
	noun() string
	buckets() []string
	Exists(tx *Tx, id ID) bool
	verify(tx *Tx, report *Report)
}

func (c *Collection[T]) tableName() string { return c.name }

func (c *Collection[T]) buckets() []string {
	names := []string{c.name}
	for _, x := range c.indexes {
		names = append(names, x.bucket)
	}
	return names
}

// schema is everything a database file of this program holds.
type schema struct {
	tables     []table
	caches     []anyCache
	migrations []migration
}

// reeve lists every collection and cache. What is not here does not exist.
var reeve = schema{
	tables: []table{
		Installs, Permissions, Roles, Depts, Users, PasswordHashes, AppUsers, Sessions, SessionTokens,
		SettingGroups, Settings, SettingSecrets,
	},
	caches:     []anyCache{RuleBook, PermissionTree, SettingSet},
	migrations: nil, // version 1 is the first
}

// version is the schema's number, which grows by one with every migration.
func (s *schema) version() int { return 1 + len(s.migrations) }

func (s *schema) bucketNames() []string {
	names := []string{countBucket, metaBucket}
	for _, t := range s.tables {
		names = append(names, t.buckets()...)
	}
	return names
}
