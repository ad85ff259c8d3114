package config

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Cluster is the configuration of a server that is one of several nodes.
type Cluster struct {
	Node           string   // name of this node
	Etcd           []string // URLs of the members of etcd
	Prefix         string
	CA, Cert, Key  string // paths of PEM files; "" for none
	User, Password string
}

// shared are the keys whose values must be the same at all nodes, besides the tables of targets of backups.
var shared = []string{
	"server.public_url", "server.base_path", "server.allowed_hosts", "server.cors_origins", "server.ignored_fields",
	"auth.bcrypt_cost", "security.login_log_days", "security.login_log_rows",
	"backup.recipients", "backup.ping_url", "backup.local",
	"files.s3.endpoint", "files.s3.bucket", "files.s3.prefix", "files.s3.keep",
	"audit.max_age", "audit.max_size", "audit.min_age",
	"webhooks.allow", "providers.allow",
	"forward_auth.url", "forward_auth.origins", "forward_auth.cross_origin",
}

// Shared returns the values that must be the same at all nodes, by key; those of a target of backups as one
// value of its table. Files may be elsewhere at each node: their contents count, and not their paths. Values can be
// secrets.
func (c *Config) Shared() map[string]string {
	all := map[string]string{}
	text := func(key key) string {
		values := []string{c.values.String(key.name)}
		if key.isList() {
			values = slices.Sorted(slices.Values(c.values.Strings(key.name)))
		}
		return strings.Join(values, "\n")
	}
	for _, key := range c.known() {
		if slices.Contains(shared, key.name) {
			all[key.name] = text(key)
		} else if _, target := findTarget(key.name); target {
			i := strings.LastIndexByte(key.name, '.')
			all[key.name[:i]] += key.name + "=" + meaning(key.name[i+1:], text(key)) + "\n"
		}
	}
	return all
}

// meaning returns the value of a field of a target, or the content of the file that it names.
func meaning(field, value string) string {
	switch field {
	case "secret_key":
		if secret, err := secretText(value); err == nil {
			return secret
		}
	case "ca":
		if text, err := os.ReadFile(value); err == nil {
			return strings.TrimSpace(string(text))
		}
	}
	return value // a file that can't be read has another meaning than that of other nodes
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
	if len(o.Node) > 100 || strings.ContainsFunc(o.Node, func(r rune) bool { return r < ' ' || r > '~' }) {
		return errors.New("cluster.node has at most 100 characters of ASCII, since a header of responses has it")
	}
	c.Cluster = o
	return nil
}
