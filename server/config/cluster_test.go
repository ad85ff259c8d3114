package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const clusterFile = `
[server]
public_url = "https://reeve.example.org"
[webhooks]
allow = ["10.0.0.0/8", "192.168.0.0/16"]
[files.s3]
endpoint = "https://s3.example.org"
bucket = "reeve"
access_key = "a"
secret_key = "b"
[backup.offsite]
path = "/mnt/offsite"
[cluster]
node = "a"
etcd = ["https://etcd-1:2379"]
`

// differing returns the keys of shared values that a change of a file changes.
func differing(t *testing.T, old, changed string) (names []string) {
	t.Helper()
	text := strings.Replace(clusterFile, old, changed, 1)
	if text == clusterFile && old != changed {
		t.Fatalf("the file has no %s", old)
	}
	before, _ := load(t, fileOf(t, clusterFile), nil)
	after, _ := load(t, fileOf(t, text), nil)
	a, b := before.Shared(), after.Shared()
	for name := range b {
		if a[name] != b[name] {
			names = append(names, name)
		}
	}
	for name := range a {
		if _, has := b[name]; !has {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func TestShared_WhatDiffers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		old, changed string
		want         []string
	}{
		"nothing":                {"", "", nil},
		"the name of the node":   {`node = "a"`, `node = "b"`, nil},
		"the members of etcd":    {"etcd-1", "etcd-2", nil},
		"a secret of the node":   {`secret_key = "b"`, `secret_key = "c"`, nil},
		"the order of a list":    {`"10.0.0.0/8", "192.168.0.0/16"`, `"192.168.0.0/16", "10.0.0.0/8"`, nil},
		"a list":                 {`, "192.168.0.0/16"`, "", []string{"webhooks.allow"}},
		"the public URL":         {"https://reeve.example.org", "https://other.example.org", []string{"server.public_url"}},
		"the bucket":             {`bucket = "reeve"`, `bucket = "other"`, []string{"files.s3.bucket"}},
		"a target":               {"/mnt/offsite", "/mnt/other", []string{"backup.offsite"}},
		"the name of a target":   {"[backup.offsite]", "[backup.away]", []string{"backup.away", "backup.offsite"}},
		"a value that was unset": {"[webhooks]", "[auth]\nbcrypt_cost = 13\n[webhooks]", []string{"auth.bcrypt_cost"}},
	} {
		if got := differing(t, test.old, test.changed); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q differ, want %q", name, got, test.want)
		}
	}
}

// Each key that must be the same at all nodes exists.
func TestShared_KeysExist(t *testing.T) {
	t.Parallel()
	for _, name := range shared {
		if _, known := find(name); !known {
			t.Errorf("there is no key %s", name)
		}
	}
}

func TestCluster_NameInAHeader(t *testing.T) {
	t.Parallel()
	for name, ok := range map[string]bool{"berlin-1.example.org": true, "Berlin 1": true, "北京": false, `a\nb`: false, strings.Repeat("n", 101): false} {
		text := strings.Replace(clusterFile, `node = "a"`, `node = "`+name+`"`, 1)
		if _, err := Load(fileOf(t, text), nil); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestShared_Files: what files of a target have counts, and not where they are.
func TestShared_Files(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"a": "secret\n", "b": "secret", "c": "another"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	shared := func(secret, ca string) string {
		t.Helper()
		table := fmt.Sprintf("endpoint = \"https://s3.example.org\"\nbucket = \"copies\"\naccess_key = \"a\"\nsecret_key = %q\nca = %q", secret, ca)
		c, _ := load(t, fileOf(t, strings.Replace(clusterFile, `path = "/mnt/offsite"`, table, 1)), nil)
		return c.Shared()["backup.offsite"]
	}
	file := func(name string) string { return filepath.Join(dir, name) }
	first := shared("file:"+file("a"), file("a"))
	for name, test := range map[string]struct {
		secret, ca string
		same       bool
	}{
		"other paths":    {"file:" + file("b"), file("b"), true},
		"the secret":     {"secret", file("a"), true},
		"another secret": {"file:" + file("c"), file("a"), false},
		"another CA":     {"file:" + file("a"), file("c"), false},
		"no file":        {"file:" + file("d"), file("a"), false},
	} {
		if got := shared(test.secret, test.ca); (got == first) != test.same {
			t.Errorf("%s: %q and %q", name, got, first)
		}
	}
}
