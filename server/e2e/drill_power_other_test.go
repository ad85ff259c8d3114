//go:build !linux

package e2e

import (
	"os"
	"testing"
)

// volume is implemented for Linux only: elsewhere it is nil, and nothing is lost.
type volume struct{}

func newVolume(t *testing.T, at string) *volume {
	t.Helper()
	noErr(t, os.Mkdir(at, 0o700))
	return nil
}

func (v *volume) cut()   {}
func (v *volume) sync()  {}
func (v *volume) mount() {}
