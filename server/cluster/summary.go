package cluster

import (
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"reeve/store/kv"
	"reeve/store/seal"
)

// What a node says about itself is in its key in etcd, sealed with a key that is derived from secret.key.

const (
	summaryPlace = "node summary" // purpose of the key, see kv.DB.DerivedKey
	summaryEvery = time.Second
	mostSummary  = 4 << 10
	hashBytes    = 6
)

// summary is what a node says about itself.
type summary struct {
	At      time.Time         `json:"at"`
	Started time.Time         `json:"started"`
	Schema  int               `json:"schema"`
	Free    int64             `json:"free"` // bytes; -1 if unknown
	Data    int64             `json:"data"` // bytes
	Config  map[string]string `json:"config,omitempty"`
}

// about is the last sealed summary.
type about struct {
	mu     sync.Mutex
	at     time.Time
	sealed []byte
}

// sealedSummary returns what this node says about itself, at most a second old; nil if that can't be
// found out, which must not keep the node from reporting what it has applied.
func (n *Node) sealedSummary() []byte {
	a := &n.about
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	if now.Sub(a.at) < summaryEvery {
		return a.sealed
	}
	a.at = now
	sealed, err := n.summarize(now)
	if err != nil {
		n.options.Log("describe this node to the others", err)
		a.at = now.Add(time.Minute)
	}
	a.sealed = sealed
	return sealed
}

func (n *Node) summarize(now time.Time) ([]byte, error) {
	key, err := n.db.DerivedKey(summaryPlace)
	if err != nil {
		return nil, err
	}
	free, known, err := n.db.DiskFree()
	if err != nil {
		return nil, err
	}
	if !known {
		free = -1
	}
	s := summary{
		At:      now.UTC(),
		Started: n.started.UTC(),
		Schema:  n.db.SchemaVersion(),
		Free:    free,
		Config:  n.configHashes(key),
	}
	files, err := n.db.FileStats()
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		s.Data += f.Size
	}
	sealed, err := sealSummary(key, &s)
	if err == nil && len(sealed) > mostSummary {
		s.Config = nil
		sealed, err = sealSummary(key, &s)
	}
	return sealed, err
}

// configHashes returns a hash for each key of the configuration that must be the same at all nodes; nil if
// it is unknown.
func (n *Node) configHashes(key []byte) map[string]string {
	if n.options.Config == nil {
		return nil
	}
	config := n.options.Config()
	if config == nil {
		return nil
	}
	all := map[string]string{}
	for name, value := range config {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(name + "\x00" + value))
		all[name] = base64.RawStdEncoding.EncodeToString(h.Sum(nil)[:hashBytes])
	}
	return all
}

// differing returns the names whose hashes are not the same, sorted.
func differing(own, other map[string]string) []string {
	names := []string{}
	if own == nil || other == nil {
		return names // unknown
	}
	for name, hash := range own {
		if other[name] != hash {
			names = append(names, name)
		}
	}
	for name := range other {
		if _, has := own[name]; !has {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func sealSummary(key []byte, s *summary) ([]byte, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	c, err := seal.AEAD(key)
	if err != nil {
		return nil, err
	}
	return c.Seal(nil, nil, text, []byte(summaryPlace)), nil
}

// openSummary opens what a node said about itself with the first key that can.
func openSummary(keys [][]byte, sealed []byte) (*summary, error) {
	err := errors.New("there is no key")
	for _, key := range keys {
		var c cipher.AEAD
		if c, err = seal.AEAD(key); err != nil {
			return nil, err
		}
		var text []byte
		if text, err = c.Open(nil, nil, sealed, []byte(summaryPlace)); err == nil {
			s := &summary{}
			return s, json.Unmarshal(text, s)
		}
	}
	return nil, err
}

// summaryKeys returns the keys of summaries; of a node without an open database, those of the directory.
func (n *Node) summaryKeys() ([][]byte, error) {
	if n.db != nil {
		key, err := n.db.DerivedKey(summaryPlace)
		return [][]byte{key}, err
	}
	instance, err := os.ReadFile(filepath.Join(n.options.Dir, "instance"))
	if err != nil {
		return nil, err
	}
	return kv.DerivedKeys(n.options.Dir, strings.TrimSpace(string(instance)), summaryPlace)
}
