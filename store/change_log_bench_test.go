package store

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"filippo.io/age"

	"reeve/store/kv"
)

// BenchmarkChangeLog compares writes with the change log to writes without it.
func BenchmarkChangeLog(b *testing.B) {
	without := reeve
	without.LogEntry, without.LogCheckpoint = nil, nil
	compareWrites(b, Options{}, Options{schema: &without})
}

// BenchmarkStream compares writes with the commit stream to writes without it.
func BenchmarkStream(b *testing.B) {
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		b.Fatal(err)
	}
	compareWrites(b, Options{Stream: &kv.StreamOptions{Recipients: []age.Recipient{identity.Recipient()}}}, Options{})
}

// compareWrites compares the writes of two databases, in turns, for a lone writer and for 64 at once.
// The ratio is that of the throughputs.
func compareWrites(b *testing.B, with, without Options) {
	for _, writers := range []int{1, 64} {
		b.Run(fmt.Sprint(writers, " writers"), func(b *testing.B) {
			dbs := [2]*DB{open(b, b.TempDir(), with), open(b, b.TempDir(), without)}
			var ids [2][]ID
			for i, db := range dbs {
				update(b, db, func(tx *Tx) error {
					for n := range writers {
						d := &Dept{Name: fmt.Sprint("D", n), Status: true}
						if err := Depts.Create(tx, d); err != nil {
							return err
						}
						ids[i] = append(ids[i], d.ID)
					}
					return nil
				})
			}

			var writes [2]int64
			for b.Loop() {
				for i, db := range dbs {
					writes[i] += writeFor(b, db, ids[i], 250*time.Millisecond)
				}
			}

			b.ReportMetric(float64(writes[0])/float64(writes[1]), "with/without")
			b.ReportMetric(float64(writes[0])/float64(b.N)*4, "writes/s")
		})
	}
}

// writeFor changes departments for a time, one goroutine for each, and returns how often.
func writeFor(b *testing.B, db *DB, ids []ID, d time.Duration) int64 {
	var n atomic.Int64
	var wg sync.WaitGroup
	end := time.Now().Add(d)
	for _, id := range ids {
		wg.Go(func() {
			for time.Now().Before(end) {
				err := db.Update(System, func(tx *Tx) error {
					_, err := Depts.Update(tx, id, func(d *Dept) error { d.Sort++; return nil })
					return err
				})
				if err != nil {
					b.Error(err)
					return
				}
				n.Add(1)
			}
		})
	}

	wg.Wait()
	return n.Load()
}
