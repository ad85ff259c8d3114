package server

import (
	"path/filepath"

	"reeve/store/journal"
)

// flush writes the monitoring of what was answered, as the running server does
// every second.
func (in *instance) flush() {
	in.t.Helper()
	m := in.server.monitor
	if m.journal.Load() == nil {
		j := journal.Open(filepath.Join(in.dir, "monitor"), journal.Options{MaxBytes: 16 << 20})
		in.t.Cleanup(func() { must(in.t, j.Close()) })
		m.tallies.load(j)
		m.journal.Store(j)
	}
	m.readSettings()
	m.flush(m.journal.Load())
}
