package config

import (
	"cmp"
	"errors"
	"fmt"
	"os"
)

// Cluster is the configuration of a server that is one of several nodes.
type Cluster struct {
	Node           string   // name of this node
	Etcd           []string // URLs of the members of etcd
	Prefix         string
	CA, Cert, Key  string // paths of PEM files; "" for none
	User, Password string
}

// setCluster reads the configuration of a cluster.
func (c *Config) setCluster() (err error) {
	text := func(name string) string { return c.values.String("cluster." + name) }
	o := &Cluster{
		Node:   text("node"),
		Etcd:   c.values.Strings("cluster.etcd"),
		Prefix: text("prefix"),
		CA:     text("etcd_ca"),
		Cert:   text("etcd_cert"),
		Key:    text("etcd_key"),
		User:   text("etcd_user"),
	}
	if len(o.Etcd) == 0 {
		return nil
	}
	if o.Password, err = secretText(text("etcd_password")); err != nil {
		return fmt.Errorf("cluster.etcd_password: %w", err)
	}
	if (o.Cert == "") != (o.Key == "") {
		return errors.New("cluster.etcd_cert and cluster.etcd_key belong together")
	}
	if c.Files == nil {
		return errors.New("cluster.etcd needs files.s3: the nodes share the contents of files in its bucket")
	}
	host, _ := os.Hostname()
	o.Node = cmp.Or(o.Node, host, "node")
	if len(o.Node) > 100 {
		return errors.New("cluster.node has at most 100 characters")
	}
	c.Cluster = o
	return nil
}
