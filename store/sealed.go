package store

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"reflect"

	"reeve/store/errs"
)

// Every field that holds a sealed value is declared, so that the program can find all
// of them: to seal them again under a new key, and to name those that a key does not
// open.

// sealedField is a declared field of a collection's records.
type sealedField[T any] struct {
	value func(*T) *Sealed
	place func(*T) string                    // what the value is bound to, see Tx.seal
	title func(tx *Tx, v *T) (string, error) // how people call the value
}

// Sealed declares a field that holds a sealed value. The result is the collection, so
// that it can stand in a declaration.
func (c *Collection[T]) Sealed(value func(*T) *Sealed, place func(*T) string, title func(*Tx, *T) (string, error)) *Collection[T] {
	c.sealed = append(c.sealed, sealedField[T]{value, place, title})
	return c
}

// sealedValue is a value that is visited. A visitor that changes Sealed has it stored.
type sealedValue struct {
	*Sealed
	place string
	title func() string
}

// visitSealed calls visit for the sealed values of up to limit records with an id
// above after, and returns the last of these ids, 0 when there are no more.
func (c *Collection[T]) visitSealed(tx *Tx, after ID, limit int, visit func(sealedValue) error) (last ID, err error) {
	if len(c.sealed) == 0 {
		return 0, nil
	}
	var ids []ID
	cursor := tx.bucket(c.name).Cursor()
	for key, _ := cursor.Seek(idKey(after + 1)); len(key) == 8 && len(ids) < limit; key, _ = cursor.Next() {
		ids = append(ids, ID(binary.BigEndian.Uint64(key)))
	}
	for _, id := range ids {
		v, err := c.Get(tx, id)
		if err != nil {
			return 0, err
		}
		changed := false
		for _, f := range c.sealed {
			value := f.value(v)
			if len(value.Box) == 0 {
				continue
			}
			before := value.Key
			err := visit(sealedValue{value, f.place(v), func() string {
				title, err := f.title(tx, v)
				if err != nil {
					return f.place(v)
				}
				return title
			}})
			if err != nil {
				return 0, err
			}
			changed = changed || value.Key != before
		}
		if changed {
			if _, err := c.Touch(tx, id, func(stored *T) error { *stored = *v; return nil }); err != nil {
				return 0, err
			}
		}
		last = id
	}
	return last, nil
}

// undeclaredSealed names the fields of a record that hold a sealed value and are not
// declared.
func (c *Collection[T]) undeclaredSealed() []string {
	v, declared := new(T), map[*Sealed]bool{}
	for _, f := range c.sealed {
		declared[f.value(v)] = true
	}
	var missing []string
	for _, field := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		s, ok := reflect.ValueOf(v).Elem().FieldByIndex(field.Index).Addr().Interface().(*Sealed)
		if ok && !declared[s] {
			missing = append(missing, c.name+"."+field.Name)
		}
	}
	return missing
}

// eachSealed visits all sealed values, in one transaction.
func (tx *Tx) eachSealed(visit func(sealedValue) error) error {
	for _, t := range tx.db.schema.tables {
		for last, more := ID(0), true; more; more = last != 0 {
			var err error
			if last, err = t.visitSealed(tx, last, MaxRecords, visit); err != nil {
				return err
			}
		}
	}
	return nil
}

// unopened names the sealed values that the keys of a ring do not open, and counts
// those that they do.
func (tx *Tx) unopened(ring *keyring) (titles []string, opened int, err error) {
	err = tx.eachSealed(func(v sealedValue) error {
		if _, ok := ring.open(*v.Sealed, tx.db.instance, v.place); ok {
			opened++
		} else {
			titles = append(titles, v.title())
		}
		return nil
	})
	return titles, opened, err
}

// choose finds the key of the database in a ring; nil if it is not there. A database
// of before keys had IDs has the key that opens any of its values, if it has some.
func (tx *Tx) choose(ring *keyring) (*secretKey, error) {
	install, err := Installs.Get(tx, 1)
	if err != nil || ring == nil {
		return nil, err
	}
	if install.SecretKeyID != "" {
		return ring.find(install.SecretKeyID), nil
	}
	titles, opened, err := tx.unopened(ring)
	if err != nil || opened == 0 && len(titles) > 0 {
		return nil, err
	}
	return ring.keys[0], nil
}

// settleKey finds the key in force when a database is opened. A file that is missing
// is replaced by a new key; any other that does not have the database's key is left
// alone, and secret values cannot be read or written.
func (db *DB) settleKey() error {
	if db.keys == nil {
		db.keys = newKeyring()
	}
	var adopt bool
	var titles []string
	err := db.View(System, func(tx *Tx) error {
		install, err := Installs.Get(tx, 1)
		if err == nil && !db.keys.unwritten {
			db.keys.current, err = tx.choose(db.keys)
		}
		if err != nil {
			return err
		}
		adopt = db.keys.current != nil && install.SecretKeyID != db.keys.current.id
		titles, _, err = tx.unopened(db.keys)
		return err
	})
	if err == nil && adopt {
		if err = db.setKeyID(db.keys.current.id); err == nil {
			err = db.reseal()
		}
	}
	if err == nil && db.keys.unwritten {
		err = db.keys.write(db.dir) // after its ID is stored: a crash in between finds no file and makes another key
	}
	path := filepath.Join(db.dir, keyName)
	switch {
	case err != nil:
		return err
	case db.keys.current == nil:
		db.warnings = append(db.warnings, path+" is not the key of this database: secret values can be neither read nor changed; put the right file back, or remove it and enter them again")
	case db.keys.unwritten && !db.created:
		db.warnings = append(db.warnings, fmt.Sprintf("%s was missing and is replaced by a new key: %s must be entered again", path, errs.Count(len(titles), "secret value")))
	case len(titles) > 0:
		db.warnings = append(db.warnings, fmt.Sprintf("%s cannot be decrypted with %s and must be entered again", errs.Count(len(titles), "secret value"), path))
	}
	if len(db.keys.keys) > 1 {
		db.warnings = append(db.warnings, path+" holds two keys: a key rotation was interrupted; stop the server and run `reeve key rotate` to complete it")
	}
	return nil
}

func (db *DB) setKeyID(id string) error {
	return db.Update(System, func(tx *Tx) error {
		_, err := Installs.Update(tx, 1, func(i *Install) error { i.SecretKeyID = id; return nil })
		return err
	})
}

// reseal seals every value that the ring opens under the key in force, at most
// MaxRecords in one transaction. It can be repeated at any time.
func (db *DB) reseal() error {
	for _, t := range db.schema.tables {
		for last, more := ID(0), true; more; more = last != 0 {
			after := last
			err := db.Update(System, func(tx *Tx) (err error) {
				last, err = t.visitSealed(tx, after, MaxRecords, func(v sealedValue) error {
					text, ok := db.keys.open(*v.Sealed, db.instance, v.place)
					if !ok || v.Key == db.keys.current.id {
						return nil
					}
					*v.Sealed, err = tx.seal(v.place, text)
					return err
				})
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// SecretState is whether secret values can be read.
type SecretState struct {
	WrongKey bool     // secret.key is not the key of the database
	Rotating bool     // a key rotation was interrupted
	Unopened []string // the values that cannot be decrypted
}

// Secrets reports whether secret values can be read. It reads all of them.
func (db *DB) Secrets() (state SecretState, err error) {
	err = db.View(System, func(tx *Tx) (err error) {
		state = SecretState{WrongKey: db.keys.current == nil, Rotating: len(db.keys.keys) > 1}
		state.Unopened, _, err = tx.unopened(db.keys)
		return err
	})
	return state, err
}

// RotateKey replaces the key of a data directory, which no server may hold, and seals
// every secret value under the new one. It returns how many values there are. After a
// crash at any point the data can be used, and RotateKey completes the rotation.
func RotateKey(dir string, options Options) (n int, err error) {
	if !HasDatabase(dir) {
		return 0, fmt.Errorf("there is no database in %s", dir)
	}
	db, err := Open(dir, options)
	if err != nil {
		return 0, err
	}
	defer func() {
		if closed := db.Close(); err == nil {
			err = closed
		}
	}()
	if db.keys.current == nil {
		return 0, errWrongKey
	}
	if len(db.keys.keys) == 1 {
		db.keys.keys = []*secretKey{newSecretKey(), db.keys.current}
		if err := db.keys.write(dir); err != nil {
			return 0, err
		}
	}
	db.keys.current = db.keys.keys[0]
	if err := db.setKeyID(db.keys.current.id); err != nil {
		return 0, err
	}
	if err := db.reseal(); err != nil {
		return 0, err
	}
	err = db.View(System, func(tx *Tx) (err error) {
		_, n, err = tx.unopened(&keyring{keys: db.keys.keys[:1]})
		return err
	})
	if err != nil {
		return 0, err
	}
	return n, (&keyring{keys: db.keys.keys[:1]}).write(dir)
}

// verifySecrets reports a secret.key that is damaged or not the key of the database,
// and notes the values that it does not open. A missing one is replaced by the next start.
func verifySecrets(dir, instance string, options Options, report *Report) error {
	path := filepath.Join(dir, keyName)
	ring, err := readKeyring(dir)
	if err != nil {
		report.fault("%v", err)
		return nil
	}
	return readOnly(filepath.Join(dir, dataName), options, func(tx *Tx) error {
		tx.db.instance = instance
		key, err := tx.choose(ring)
		if err != nil {
			return err
		}
		titles, _, err := tx.unopened(ring)
		switch {
		case err != nil:
			return err
		case ring != nil && key == nil:
			report.fault("%s is not the key of this database: put the right file back, or remove it and enter the secret values again (%d)", path, len(titles))
		default:
			for _, title := range titles {
				report.Notes = append(report.Notes, title+" cannot be decrypted with "+path+": enter it again")
			}
		}
		return nil
	})
}
