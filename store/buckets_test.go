package store

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"reeve/store/disk/disktest"
)

// bucketRow returns the name that a bucket has in buckets.tsv.
func bucketRow(name string) string {
	collection, rest, _ := strings.Cut(name, ".")
	for _, t := range reeve.Tables {
		switch {
		case t.Name() != collection:
		case rest == "":
			return "COLLECTION"
		case rest == "search" || rest == "search.changes":
			return "COLLECTION." + rest
		default:
			return "COLLECTION.FIELD"
		}
	}
	return name
}

var bucketClass = regexp.MustCompile(`^(shared|local|row)$`)

// Buckets are declared in kv/buckets.tsv, see "Shared and local state" in architecture.md.
func TestBuckets_AreDeclared(t *testing.T) {
	dir := t.TempDir()
	shut(t, open(t, dir, Options{}))
	there, needed := map[string]bool{}, map[string]bool{}
	for _, file := range []string{"data.db", "files.db"} {
		db, err := bbolt.Open(filepath.Join(dir, file), 0o600, &bbolt.Options{ReadOnly: true})
		noErr(t, err)
		noErr(t, db.View(func(tx *bbolt.Tx) error {
			return tx.ForEach(func(bucket []byte, b *bbolt.Bucket) error {
				there[file+" "+string(bucket)], needed[file+" "+bucketRow(string(bucket))] = true, true
				if file != "data.db" || bucket[0] != '_' {
					return nil
				}
				return b.ForEach(func(key, _ []byte) error {
					name := string(key)
					if string(bucket) == "_count" {
						name = bucketRow(name)
					}
					needed[file+" "+string(bucket)+"/"+name] = true
					return nil
				})
			})
		}))
		noErr(t, db.Close())
	}

	declared := map[string]bool{}
	lines := strings.Split(strings.TrimSpace(string(disktest.ReadFile(t, "kv/buckets.tsv"))), "\n")
	for i, line := range lines[1:] {
		columns := strings.Split(line, "\t")
		if len(columns) != 4 || columns[3] == "" || !bucketClass.MatchString(columns[2]) {
			t.Errorf("buckets.tsv:%d: %q is not file, bucket, class and reason", i+2, line)
			continue
		}
		name := columns[0] + " " + columns[1]
		if declared[name] || !there[name] && !needed[name] {
			t.Errorf("buckets.tsv:%d: %s is declared twice or is not there", i+2, name)
		}
		declared[name] = true
	}

	for name := range needed {
		if !declared[name] {
			t.Errorf("%s is not declared in kv/buckets.tsv", name)
		}
	}
}
