// Package cluster makes a server one of several equal nodes: etcd puts their commits in one order
// (package etcd), and a bucket has the contents of files and the base copies from which nodes start.
// Nodes never talk to each other.
//
// Start with Node. Init makes the data of a directory those of a new cluster; Prepare gives a node data
// that the log continues, and Run keeps it in contact.
package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"reeve/store"
	"reeve/store/copies"
	"reeve/store/disk"
	"reeve/store/etcd"
	"reeve/store/kv"
)

// Options configure a node.
type Options struct {
	Etcd      etcd.Options
	Name      string                   // label of the node
	Version   string                   // version of the program
	Dir       string                   // data directory
	Bucket    copies.Target            // has the base copies
	OtherEtcd bool                     // whether the etcd cluster may be another one than before, because the data replace its own
	Config    func() map[string]string // configuration that must be the same at all nodes, see config.Config.Shared; returns nil while it is unknown
	Log       func(text string, err error)

	BaseEvery time.Duration // time after which there is a new base copy; 0 for the default
	BaseBytes int64         // size of the entries after which there is one; 0 for the default
}

// Node is this server as one of several.
type Node struct {
	options Options
	etcd    *etcd.Log
	log     *commitLog
	db      *store.DB // nil before Attach
	beats   beats
	based   *baseSeen // newest base copy; for the goroutine of the duties
	started time.Time
	before  etcd.Lease // lease that this node may have had before, which it ends; 0 for none. Of the goroutine that renews
	about   about      // last summary of this node
	seen    seen       // last answer of etcd about all nodes
}

// fileName is the name of the file in the data directory that has the ID of the etcd cluster.
const fileName = "cluster"

// remembered is the content of the file.
type remembered struct {
	Etcd  uint64 `json:"etcd,string"`            // ID of the etcd cluster
	Kept  string `json:"kept"`                   // directory with the data that the last copy has replaced; "" for none
	Lease uint64 `json:"lease,string,omitempty"` // last lease of the node; 0 for none
	Place string `json:"place,omitempty"`        // place of the node that had it, see placeOf
}

// Open returns a node. It does not connect, unless etcd has users.
func Open(o Options) (*Node, error) {
	known, err := remember(o.Dir)
	if err != nil {
		return nil, err
	}
	if o.Etcd.Cluster = known.Etcd; o.OtherEtcd {
		o.Etcd.Cluster = 0
	}
	commits := newCommitLog()
	o.Etcd.Turn = commits.sawTurn
	log, err := etcd.Open(o.Etcd)
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	commits.etcd = log
	n := &Node{
		options: o,
		etcd:    log,
		log:     commits,
		beats:   beats{report: make(chan struct{}, 1), took: kv.NewHistogram(answerBounds...)},
		started: time.Now(),
	}
	if known.Place != "" && known.Place == placeOf(o.Dir) { // otherwise the directory may be the copy of one whose node runs
		n.before = etcd.Lease(known.Lease)
	}
	n.log.applied, n.log.confirm = func(uint64) { n.wantReport() }, log.Await
	return n, nil
}

// Close ends the connections.
func (n *Node) Close() error { return n.etcd.Close() }

// CommitLog returns the options with which the database is opened.
func (n *Node) CommitLog() *kv.CommitLogOptions {
	return &kv.CommitLogOptions{Log: n.log, Author: n.options.Name}
}

// Attach tells the node its database.
func (n *Node) Attach(db *store.DB) error {
	n.db = db
	state, _ := db.CommitLog()
	n.etcd.Expect(positionOf(state.At))
	return n.save()
}

func remember(dir string) (known remembered, err error) {
	text, err := os.ReadFile(filepath.Join(dir, fileName))
	if errors.Is(err, fs.ErrNotExist) {
		return known, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &known)
	}
	if err != nil {
		err = fmt.Errorf("read %s: %w", filepath.Join(dir, fileName), err)
	}
	return known, err
}

// save writes the file, if etcd has answered.
func (n *Node) save() error {
	known, err := remember(n.options.Dir)
	id := n.etcd.Cluster()
	if err != nil || id == 0 || id == known.Etcd {
		return err
	}
	known.Etcd = id
	return n.write(known)
}

func (n *Node) write(known remembered) error {
	text, err := json.Marshal(known)
	if err != nil {
		return err
	}
	if err := disk.WriteFile(filepath.Join(n.options.Dir, fileName), text); err != nil {
		return err
	}
	return disk.SyncDir(n.options.Dir)
}

// Leave makes the data of a stopped node independent of its cluster.
func Leave(dir string, o store.Options) error {
	o.LeaveCommitLog = true
	db, err := store.Open(dir, o)
	if err != nil {
		return err
	}
	err = db.Close()
	if removed := os.Remove(filepath.Join(dir, fileName)); !errors.Is(removed, fs.ErrNotExist) {
		err = errors.Join(err, removed)
	}
	return err
}

// Forget lets a stopped node take the data of the cluster at its next start, also of one on another etcd.
func Forget(dir string) error {
	err := os.Remove(filepath.Join(dir, fileName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// initialized reports whether etcd has a log.
func (n *Node) initialized(ctx context.Context) (bool, error) {
	_, err := n.etcd.Head(ctx)
	if errors.Is(err, etcd.ErrNoHead) {
		return false, nil
	}
	return err == nil, err
}
