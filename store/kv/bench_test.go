package kv

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"go.etcd.io/bbolt"

	"reeve/store/disk"
)

// parallel runs b.N operations in several goroutines and reports their rate.
func parallel(b *testing.B, writers int, op func(n int) error) {
	var next atomic.Int64
	var wg sync.WaitGroup
	b.ResetTimer()
	for range writers {
		wg.Go(func() {
			for {
				n := int(next.Add(1))
				if n > b.N {
					return
				}
				if err := op(n); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}

	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
}

// BenchmarkUpdate creates records of about 300 bytes. Each writer waits until its record is on the
// disk before it creates the next.
func BenchmarkUpdate(b *testing.B) {
	for _, writers := range []int{1, 64} {
		b.Run(fmt.Sprint(writers), func(b *testing.B) {
			db, err := Open(b.TempDir(),
				Options{Schema: &Schema{Tables: []Table{Installs, keepers}}})
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close()
			name := strings.Repeat("x", 180) // gives 300 bytes with the other fields and the frame
			parallel(b, writers, func(int) error {
				return db.Update(System, func(tx *Tx) error {
					return keepers.Create(tx, &keeper{Name: name})
				})
			})
		})
	}
}

func benchBolt(b *testing.B, writers int,
	update func(file *bbolt.DB, fn func(*bbolt.Tx) error) error) {
	file, err := bbolt.Open(filepath.Join(b.TempDir(), dataName), 0o600, disk.BoltOptions(false))
	if err != nil {
		b.Fatal(err)
	}

	defer file.Close()
	bucket, value := []byte("keeper"), bytes.Repeat([]byte("x"), 300)
	if err := file.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucket(bucket)
		return err
	}); err != nil {
		b.Fatal(err)
	}

	parallel(b, writers, func(n int) error {
		return update(file, func(tx *bbolt.Tx) error {
			return tx.Bucket(bucket).Put(idKey(ID(n)), value)
		})
	})
}

func BenchmarkBoltUpdate(b *testing.B) {
	b.Run("1", func(b *testing.B) { benchBolt(b, 1, (*bbolt.DB).Update) })
}

func BenchmarkBoltBatch(b *testing.B) {
	b.Run("64", func(b *testing.B) { benchBolt(b, 64, (*bbolt.DB).Batch) })
}

// BenchmarkGet reads one record per read transaction.
func BenchmarkGet(b *testing.B) {
	db := benchZoo(b)
	for i := 0; b.Loop(); i++ {
		err := db.View(System, func(tx *Tx) error {
			_, err := beasts.Get(tx, ID(i%1000+1))
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCacheGet reads one cached value per read transaction.
func BenchmarkCacheGet(b *testing.B) {
	db := benchZoo(b)
	for b.Loop() {
		err := db.View(System, func(tx *Tx) error {
			if len(*census.Get(tx)) != 1000 {
				b.Fatal("the census is not whole")
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

func benchZoo(b *testing.B) *DB {
	db := open(b, b.TempDir(), Options{Schema: zoo()})
	update(b, db, func(tx *Tx) error {
		for i := range 1000 {
			if err := beasts.Create(tx, &beast{
				Name: fmt.Sprint("beast ", i),
				Tags: []string{"a", "b"},
			}); err != nil {
				return err
			}
		}
		return nil
	})
	return db
}
