package cli

import (
	"sync"
	"time"

	"github.com/rs/zerolog"

	"reeve/store/kv"
)

// migrationEvery is how often the log says how far a migration is.
const migrationEvery = 10 * time.Second

// migrationLog logs when a migration begins and ends, and how far it is every so often in between. A
// large one takes minutes, in which the server says nothing else.
type migrationLog struct {
	log   zerolog.Logger
	every time.Duration

	mu    sync.Mutex
	now   kv.MigrationState
	begun time.Time     // zero before the migration
	stop  chan struct{} // ends repeat
	ended chan struct{} // closed at the end of repeat
}

// update takes the state of the migration. It is for kv.Options.Migrating.
func (m *migrationLog) update(now kv.MigrationState) {
	m.mu.Lock()
	m.now = now
	m.mu.Unlock()
	switch {
	case m.begun.IsZero():
		m.begun = time.Now()
		m.stop, m.ended = make(chan struct{}), make(chan struct{})
		m.say("the data of an older version is being migrated; the server starts after that", now)
		go m.repeat()
	case now.Ended:
		close(m.stop)
		<-m.ended
		if now.Err == nil { // it is the error of the start
			m.say("the data was migrated", now)
		}
		m.begun = time.Time{}
	}
}

// repeat logs how far the migration is until stop is closed.
func (m *migrationLog) repeat() {
	defer close(m.ended)
	tick := time.NewTicker(m.every)
	defer tick.Stop()
	for {
		select {
		case <-m.stop:
			return
		case <-tick.C:
			m.mu.Lock()
			now := m.now
			m.mu.Unlock()
			m.say("the data is still being migrated", now)
		}
	}
}

func (m *migrationLog) say(text string, now kv.MigrationState) {
	m.log.Info().Int("schema", now.Step).Int("to_schema", now.To).Uint64("records", now.Records).Uint64("records_indexed", now.Read).
		Stringer("running_for", time.Since(m.begun).Round(time.Millisecond)).Msg(text)
}
