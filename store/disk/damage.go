// Package disk handles the bytes of Reeve's database files, which are bbolt files: how
// values are framed, how pages are checked before bbolt trusts them, how a file is made
// durable, and how much space is free.
//
// bbolt maps its file and follows what the pages say; it has no checksums. Three things make
// damage visible here: CheckPages walks all pages when a file is opened, Frame adds a
// checksum to each value that covers its bucket and key, and RecoverDamage turns a panic or
// memory fault below bbolt into a *Damaged error that names the file.
//
// WriteFile, MoveFile, RemoveFile and SyncDir return when the change survives a power cut.
//
//	if _, err := disk.CheckPages(path, true); err != nil {
//		return err // a *disk.Damaged
//	}
//	db, err := bbolt.Open(path, 0o600, disk.BoltOptions(false))
//	err = disk.RecoverDamage(path, func() error { … })
//	payload, err := disk.Unframe("user", key, value)
package disk

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"reeve/store/errs"
)

// Fault is a panic value that RecoverDamage turns into Err, or into a *Damaged with it.
type Fault struct{ Err error }

// Damaged is an error about inconsistent data: a flipped bit, a lost page, a wrong index.
type Damaged struct {
	Where string // the file, and the bucket and key or page
	Err   error
	Do    string // advice to the operator; "" for the usual commands
}

func (d *Damaged) Error() string {
	do := d.Do
	if do == "" {
		do = "stop the server: `reeve verify` lists all damage, `reeve salvage NEWDIR` copies the intact data, `reeve restore FILE` restores a backup"
	}
	return fmt.Sprintf("%s is damaged: %v; %s", d.Where, d.Err, do)
}

func (d *Damaged) Unwrap() error { return d.Err }

// OneLine returns the text of an error for a list of damage: one line, without Do.
func OneLine(err error) string {
	text := errs.ForOperator(err).Error()
	if d := (*Damaged)(nil); errors.As(err, &d) {
		text = fmt.Sprintf("%s is damaged: %v", d.Where, d.Err)
	}
	text, _, _ = strings.Cut(text, "\n") // a panic caused by damage has a stack
	return strings.ReplaceAll(strings.ReplaceAll(text, "panic: ", ""), "assertion failed: ", "")
}

// RecoverDamage runs fn and returns its panic as an error. A panic inside bbolt and a memory
// fault, which is how an unreadable mapped page shows, become *Damaged. Any other panic is a
// bug; its error contains the stack.
func RecoverDamage(file string, fn func() error) (err error) {
	old := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(old)
	defer func() {
		switch p := recover().(type) {
		case nil:
		case Fault:
			err = asDamage(file, p.Err)
		case interface{ Addr() uintptr }:
			err = asDamage(file, fmt.Errorf("memory fault: %v", p))
		default:
			if inBolt() {
				err = asDamage(file, fmt.Errorf("%v", p))
				return
			}
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()

	return fn()
}

// inBolt reports, in a deferred function, whether the panic began in bbolt.
func inBolt() bool {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		frame, more := frames.Next()
		if !strings.HasPrefix(frame.Function, "runtime.") {
			return strings.HasPrefix(frame.Function, "go.etcd.io/bbolt")
		}
		if !more {
			return false
		}
	}
}

func asDamage(file string, err error) error {
	var known *errs.Error
	if errors.As(err, &known) {
		return err
	}
	return errs.Of(&Damaged{Where: file, Err: err})
}
