// Package failure logs failures that repeat without filling the log.
package failure

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// Log keeps a failure that repeats with every request from filling the log: it
// is logged when it first occurs, then once a minute with the number of occurrences
// since. The zero value is ready to use.
type Log struct {
	mu       sync.Mutex
	Repeated map[string]*repeated
}

// repeated is a failure that was logged within the last minute.
type repeated struct {
	at    time.Time // time of the last line
	count int       // failures since that line
	err   error     // the most recent one
	write func(*zerolog.Event)
}

const (
	every = time.Minute
	check = 10 * time.Second

	// Max bounds the failures that are distinguished. Further ones are counted
	// together.
	Max = 1000
)

// Report logs err, or counts it if the same failure was logged within the last minute.
// Failures are the same if their kind and the first line of their error are. write adds
// the fields to the line and sends it.
func (f *Log) Report(log zerolog.Logger, kind string, err error, write func(*zerolog.Event)) {
	f.Note(log, time.Now(), kind, err, write)
}

// Note is Report at a time.
func (f *Log) Note(log zerolog.Logger, now time.Time, kind string, err error,
	write func(*zerolog.Event)) {
	text, _, _ := strings.Cut(err.Error(), "\n") // the stack of a panic differs each time
	key := kind + " " + text
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.Repeated[key]
	if r == nil && len(f.Repeated) >= Max {
		key = ""
		r = f.Repeated[key]
	}
	if r == nil {
		if f.Repeated == nil {
			f.Repeated = map[string]*repeated{}
		}
		f.Repeated[key] = &repeated{at: now}
		write(log.Error().Err(err))
		return
	}

	r.count, r.err, r.write = r.count+1, err, write
	if now.Sub(r.at) >= every {
		r.flush(log, now)
	}
}

// flush logs the failures since the last line.
func (r *repeated) flush(log zerolog.Logger, now time.Time) {
	r.write(log.Error().Err(r.err).Int("repeated", r.count))
	r.at, r.count, r.err, r.write = now, 0, nil, nil
}

// Flush logs the lines that are due, or all of them, and removes failures that have not
// recurred.
func (f *Log) Flush(log zerolog.Logger, now time.Time, all bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for key, r := range f.Repeated {
		switch {
		case !all && now.Sub(r.at) < every:
		case r.count > 0:
			r.flush(log, now)
		default:
			delete(f.Repeated, key)
		}
	}
}

// Run logs the lines that are due until ctx ends, and then the remaining ones.
func (f *Log) Run(ctx context.Context, log zerolog.Logger) {
	tick := time.NewTicker(check)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			f.Flush(log, time.Now(), true)
			return
		case now := <-tick.C:
			f.Flush(log, now, false)
		}
	}
}
