package kv

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"reflect"

	"reeve/store/errs"
)

// Every field with a sealed value is declared, so that the program can find all of them: to
// seal them again with a new key, and to list those that a key does not open.

// sealedField is a declared field of the records of a collection.
type sealedField struct {
	value func(record) *Sealed
	place func(record) string                    // context that the value is bound to, see Tx.Seal
	title func(tx *Tx, v record) (string, error) // title of the value for people
}

// sealedValue is a value that visitSealed has found. If a visitor replaces it by one with
// another key, the record is stored.
type sealedValue struct {
	*Sealed
	place string
	title func() string
}

// visitSealed calls visit for the sealed values of up to limit records with IDs above after. It
// returns the last of these IDs, or 0 if there are no more.
func (c *collection) visitSealed(tx *Tx, after ID, limit int,
	visit func(sealedValue) error) (last ID, err error) {
	if len(c.sealed) == 0 {
		return 0, nil
	}

	var ids []ID
	cursor := tx.bucket(c.name).Cursor()
	for key, _ := cursor.Seek(idKey(after + 1)); len(key) == 8 &&
		len(ids) < limit; key, _ = cursor.Next() {
		ids = append(ids, ID(binary.BigEndian.Uint64(key)))
	}

	for _, id := range ids {
		v, err := c.get(tx, id)
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
			_, err := c.update(tx, id, quiet, func(stored record) error {
				reflect.ValueOf(stored).Elem().Set(reflect.ValueOf(v).Elem())
				return nil
			})
			if err != nil {
				return 0, err
			}
		}

		last = id
	}

	return last, nil
}

// undeclaredSealed returns the names of the fields with a sealed value that are not declared.
func (c *collection) undeclaredSealed() []string {
	v, declared := c.new(), map[*Sealed]bool{}
	for _, f := range c.sealed {
		declared[f.value(v)] = true
	}
	var missing []string
	for _, field := range reflect.VisibleFields(c.typ) {
		s, ok := reflect.ValueOf(v).Elem().FieldByIndex(field.Index).Addr().Interface().(*Sealed)
		if ok && !declared[s] {
			missing = append(missing, c.name+"."+field.Name)
		}
	}
	return missing
}

// eachSealed calls visit for all sealed values of the database.
func (tx *Tx) eachSealed(visit func(sealedValue) error) error {
	for _, t := range tx.db.schema.Tables {
		for last, more := ID(0), true; more; more = last != 0 {
			var err error
			if last, err = t.table().visitSealed(tx, last, MaxRecordsPerWrite, visit); err != nil {
				return err
			}
		}
	}
	return nil
}

// undecryptable returns the titles of the sealed values that no key of a ring opens, and the number
// of those that one does.
func (tx *Tx) undecryptable(ring *keyring) (titles []string, opened int, err error) {
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

// choose returns the key of the database from a ring; nil if the ring does not have it. In a
// database from before keys had IDs, that is the key that opens any of its values, if it has
// values.
func (tx *Tx) choose(ring *keyring) (*secretKey, error) {
	install, err := Installs.Get(tx, 1)
	if err != nil || ring == nil {
		return nil, err
	}
	if install.SecretKeyID != "" {
		return ring.find(install.SecretKeyID), nil
	}
	titles, opened, err := tx.undecryptable(ring)
	if err != nil || opened == 0 && len(titles) > 0 {
		return nil, err
	}
	return ring.keys[0], nil
}

// settleKey determines the current key when a database is opened. A missing file is replaced by
// a new key. If the file does not have the key of the database, it is left alone, and secret
// values can be neither read nor written.
func (db *DB) settleKey() error {
	if db.keys == nil {
		db.keys = newKeyring()
	}

	var adopt bool
	var titles []string
	err := db.View(engine{}, func(tx *Tx) error {
		install, err := Installs.Get(tx, 1)
		if err == nil && !db.keys.unwritten {
			db.keys.current, err = tx.choose(db.keys)
		}
		if err != nil {
			return err
		}
		adopt = db.keys.current != nil && install.SecretKeyID != db.keys.current.id
		titles, _, err = tx.undecryptable(db.keys)
		return err
	})
	if err == nil && adopt {
		if err = db.setKeyID(db.keys.current.id); err == nil {
			err = db.reseal()
		}
	}
	if err == nil && db.keys.unwritten {
		err = db.keys.write(db.dir) // after its ID is stored: after a crash in between, the next start finds no file and creates another key
	}

	path := filepath.Join(db.dir, keyName)
	switch {
	case err != nil:
		return err
	case db.keys.current == nil:
		db.warnings = append(db.warnings,
			path+" is not the key of this database: secret values can be neither read nor changed; restore the right file, or remove it and enter them again")
	case db.keys.unwritten && !db.created:
		db.warnings = append(db.warnings,
			fmt.Sprintf("%s was missing and is replaced by a new key: %s must be entered again",
				path, errs.Count(len(titles), "secret value")))
	case len(titles) > 0:
		db.warnings = append(db.warnings,
			fmt.Sprintf("%s cannot be decrypted with %s and must be entered again",
				errs.Count(len(titles), "secret value"), path))
	}

	if len(db.keys.keys) > 1 {
		db.warnings = append(db.warnings,
			path+" holds two keys: a key rotation was interrupted; stop the server and run `reeve secret rotate` to complete it")
	}

	return nil
}

func (db *DB) setKeyID(id string) error {
	return db.Update(engine{}, func(tx *Tx) error {
		_, err := Installs.Update(tx, 1, func(i *Install) error { i.SecretKeyID = id; return nil })
		return err
	})
}

// reseal seals every value that the ring opens with the current key, at most MaxRecordsPerWrite in
// a transaction. It can be repeated at any time.
func (db *DB) reseal() error {
	for _, t := range db.schema.Tables {
		for last, more := ID(0), true; more; more = last != 0 {
			after := last
			err := db.Update(engine{}, func(tx *Tx) (err error) {
				last, err = t.table().visitSealed(tx, after, MaxRecordsPerWrite,
					func(v sealedValue) error {
						text, ok := db.keys.open(*v.Sealed, db.instance, v.place)
						if !ok || v.Key == db.keys.current.id {
							return nil
						}
						*v.Sealed, err = tx.Seal(v.place, text)
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

// SecretState describes whether secret values can be read.
type SecretState struct {
	WrongKey bool     // secret.key is not the key of the database
	Rotating bool     // a key rotation was interrupted
	Unopened []string // titles of the values that cannot be decrypted
}

// Secrets reports whether secret values can be read. It decrypts all of them.
func (db *DB) Secrets() (state SecretState, err error) {
	err = db.View(engine{}, func(tx *Tx) (err error) {
		state = SecretState{WrongKey: db.keys.current == nil, Rotating: len(db.keys.keys) > 1}
		state.Unopened, _, err = tx.undecryptable(db.keys)
		return err
	})
	return state, err
}

// RotateKey replaces the key of a data directory, seals every secret value with the new one and
// returns their number. No server may be using dir. After a crash at any point the data is
// usable, and calling RotateKey again completes the rotation.
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

	err = db.View(engine{}, func(tx *Tx) (err error) {
		_, n, err = tx.undecryptable(&keyring{keys: db.keys.keys[:1]})
		return err
	})
	if err != nil {
		return 0, err
	}

	return n, (&keyring{keys: db.keys.keys[:1]}).write(dir)
}

// verifySecrets reports a secret.key that is damaged or not the key of the database as a fault,
// and the values that it does not open as notes. A missing file is not a fault: the next start
// creates one.
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

		titles, _, err := tx.undecryptable(ring)
		switch {
		case err != nil:
			return err
		case ring != nil && key == nil:
			report.fault("%s is not the key of this database: restore the right file, or remove it and enter the secret values again (%d)", path, len(titles))
		default:
			for _, title := range titles {
				report.Notes = append(report.Notes,
					title+" cannot be decrypted with "+path+": enter it again")
			}
		}

		return nil
	})
}
