package config

import (
	"fmt"
	"maps"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"reeve/server/target"
	"reeve/store/s3"
)

// targetKeys are the keys of the table of a target, [backup.NAME].
var targetKeys = []key{
	{"path", "", "Directory that copies go to, on another disk.", nil},
	{"endpoint", "", "URL of the S3-compatible service that has the bucket.", nil},
	{"bucket", "", "Bucket that copies go to.", nil},
	{"region", "", "Region of the bucket; empty to ask the service.", nil},
	{"prefix", "", "Path in the bucket.", nil},
	{"access_key", "", "Access key of the bucket.", maskAll},
	{"secret_key", "", "Secret key of the bucket, or file:PATH.", maskAll},
	{"style", "", "Place of the bucket's name in URLs: path or host; empty for what the service usually has.", nil},
	{"ca", "", "Path of PEM certificates that are trusted in place of the system's.", nil},
	{"command", []string{}, "Program and arguments that read a whole backup from the standard input.", nil},
	{"bandwidth", int64(0), "Maximum number of bytes sent a second; 0 for no limit.", nil},
	{"delete", true, "Whether copies that are no longer kept are deleted; false if the bucket does that, or no one may.", nil},
}

// targetKey matches a key of a target.
var targetKey = regexp.MustCompile(`^backup\.([a-z][a-z0-9-]{0,31})\.([a-z_]+)$`)

// reserved are names that no target can have.
var reserved = []string{"local", "recipients"}

// findTarget returns the key of a target.
func findTarget(name string) (key, bool) {
	m := targetKey.FindStringSubmatch(name)
	if m == nil || slices.Contains(reserved, m[1]) {
		return key{}, false
	}
	i := slices.IndexFunc(targetKeys, func(k key) bool { return k.name == m[2] })
	if i < 0 {
		return key{}, false
	}
	k := targetKeys[i]
	k.name = name
	return k, true
}

// targetNames returns the names of the targets, sorted.
func (c *Config) targetNames() []string {
	names := map[string]bool{}
	for _, name := range c.values.Keys() {
		if m := targetKey.FindStringSubmatch(name); m != nil {
			names[m[1]] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// Backups returns what the configuration says about copies.
func (c *Config) Backups() (set target.Set, err error) {
	set = target.Set{
		Recipients: c.values.Strings("backup.recipients"),
		PingURL:    c.values.String("backup.ping_url"),
		Local:      c.values.Bool("backup.local"),
	}
	if u, err := url.Parse(set.PingURL); set.PingURL != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return set, fmt.Errorf("backup.ping_url must be a URL like https://monitor.example.org/ping/1")
	}
	for _, name := range c.targetNames() {
		t, err := c.target(name)
		if err != nil {
			return set, fmt.Errorf("backup.%s: %w", name, err)
		}
		set.Targets = append(set.Targets, t)
	}
	return set, nil
}

const unpinged = "backup.ping_url is never requested: no target has copies that can be proven; what a command stores can't be read back"

// unpinged reports whether a monitor waits for proven copies that there are not.
func (c *Config) unpinged() bool {
	set, err := c.Backups()
	if err != nil || set.PingURL == "" {
		return false
	}
	return !slices.ContainsFunc(set.Targets, func(t target.Config) bool { return t.Kind() != target.Command }) && (len(set.Targets) > 0 || !set.Local)
}

// Target returns a target; ok is false if there is none with this name.
func (c *Config) Target(name string) (t target.Config, ok bool, err error) {
	if !slices.Contains(c.targetNames(), name) {
		return t, false, nil
	}
	t, err = c.target(name)
	if err != nil {
		err = fmt.Errorf("backup.%s: %w", name, err)
	}
	return t, true, err
}

// Recipients returns the recipients of copies.
func (c *Config) Recipients() []string { return c.values.Strings("backup.recipients") }

// Targets returns the names of the targets, sorted.
func (c *Config) Targets() []string { return c.targetNames() }

func (c *Config) target(name string) (t target.Config, err error) {
	text := func(field string) string { return c.values.String("backup." + name + "." + field) }
	t = target.Config{
		Name:      name,
		Path:      text("path"),
		Command:   c.values.Strings("backup." + name + ".command"),
		Bandwidth: c.values.Int64("backup." + name + ".bandwidth"),
		NoDelete:  c.values.Exists("backup."+name+".delete") && !c.values.Bool("backup."+name+".delete"),
		S3: s3.Options{
			Endpoint:  text("endpoint"),
			Bucket:    text("bucket"),
			Region:    text("region"),
			Prefix:    text("prefix"),
			Style:     text("style"),
			CA:        text("ca"),
			AccessKey: text("access_key"),
		},
	}
	if t.S3.SecretKey, err = secretText(text("secret_key")); err != nil {
		return t, fmt.Errorf("secret_key: %w", err)
	}
	return t, t.Check()
}

// secretText returns the secret that a value is, or that is in the file that it names with file:.
func secretText(value string) (string, error) {
	path, is := strings.CutPrefix(value, "file:")
	if !is {
		return value, nil
	}
	text, err := os.ReadFile(path)
	return strings.TrimSpace(string(text)), err
}
