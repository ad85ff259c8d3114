package server

import (
	"path/filepath"

	"reeve/store"
)

// flush writes the monitoring of what was answered, as the running server does
// every second.
func (in *instance) flush() {
	in.t.Helper()
	m := in.server.monitor
	if m.journal.Load() == nil {
		journal := store.OpenJournal(filepath.Join(in.dir, "monitor"), store.JournalOptions{MaxBytes: 16 << 20})
		in.t.Cleanup(func() { must(in.t, journal.Close()) })
		m.tallies.load(journal)
		m.journal.Store(journal)
	}
	m.readSettings()
	m.flush(m.journal.Load())
}
