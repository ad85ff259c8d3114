package disk

import (
	"fmt"
	"runtime/debug"
)

// mayFault runs fn and returns a read error of the mapped file, which occurs as a
// memory fault, as an error.
func (w *pageWalk) mayFault(fn func() error) (err error) {
	old := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(old)
	defer func() {
		switch p := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }:
			err = fmt.Errorf("it cannot be read from the disk: %v", p)
		default:
			panic(p)
		}
	}()
	return fn()
}

// bytes returns size bytes of the file at offset, which must lie within it.
func (w *pageWalk) bytes(offset, size uint64) ([]byte, error) {
	if w.mapped != nil {
		return w.mapped[offset:][:size], nil
	}
	b := make([]byte, size)
	_, err := w.f.ReadAt(b, int64(offset))
	return b, err
}
