package disk

import (
	"reflect"
	"sync"
	"unsafe"

	"go.etcd.io/bbolt"
)

// Begin begins a transaction. bbolt panics if the file was damaged since it was opened, with locks that
// it never releases: all later transactions, and Close, would wait for ever. Begin releases them, so that
// every transaction fails with the same panic, see RecoverDamage.
func Begin(file *bbolt.DB, writable bool) (btx *bbolt.Tx, err error) {
	done := false
	defer func() {
		if done {
			return
		}
		if writable { // bbolt itself releases the other one
			lockOf[sync.Mutex](file, "rwlock").Unlock()
			return
		}
		lockOf[sync.RWMutex](file, "mmaplock").RUnlock()
		lockOf[sync.Mutex](file, "metalock").Unlock()
	}()
	btx, err = file.Begin(writable)
	done = true
	return btx, err
}

// lockOf returns a lock of bbolt, which exports none of them.
func lockOf[T any](file *bbolt.DB, name string) *T {
	field := reflect.ValueOf(file).Elem().FieldByName(name)
	if field.Type() != reflect.TypeFor[T]() {
		panic("bbolt has no lock " + name + " of this type")
	}
	return (*T)(unsafe.Pointer(field.UnsafeAddr()))
}
