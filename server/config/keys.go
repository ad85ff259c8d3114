package config

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"reeve/server/web"
)

// key is one key of the configuration.
type key struct {
	name  string
	value any // the default, which also determines the type: string, int64, bool or []string
	doc   string
	mask  func(string) string // hides the secret part of a displayed value; nil if nothing is secret
}

var keys = []key{
	{"server.listen", "127.0.0.1:8080",
		"Address to listen on; 0.0.0.0:8080 or :8080 for every interface.", nil},
	{"server.tls_cert", "",
		"Path of a PEM certificate; together with server.tls_key it turns on HTTPS.", nil},
	{"server.tls_key", "", "Path of the private key of server.tls_cert.", nil},
	{"server.public_url", "",
		"URL at which people reach this server, like https://reeve.example.org; links in mails begin with it, and no mail is sent without it. Passkeys are for its host name.", nil},
	{"server.base_path", "",
		"Path below which a proxy serves this server, like /admin-tool; empty for the root of its host.", nil},
	{"server.trusted_proxies", []string{},
		"Addresses or networks (10.0.0.0/8) of proxies whose X-Forwarded-For is trusted.", nil},
	{"server.max_connections", int64(0),
		"Maximum number of connections, half of them from one address; 0 for as many as the limit of open files allows.", nil},
	{"server.allowed_hosts", []string{},
		"Host names that the server answers to besides that of server.public_url; without that URL, it answers to any.", nil},
	{"server.cors_origins", []string{},
		"Origins (https://app.example.org) whose pages may call the API from a browser.", nil},
	{"server.ignored_fields", []string{"rePassword", "autoLogin"},
		"Unknown fields that are ignored in a request body; any other unknown field is rejected.",
		nil},
	{"server.drain", "0s",
		"Time in which a stopping server still accepts requests, while /health/ready fails and each response closes its connection; for load balancers and restarts without a failed request.", nil},
	{"server.stop_timeout", "20s",
		"Time that requests in flight get to finish when the server stops, 1s to 10m.", nil},
	{"data.dir", "./data", "Directory of the database and its keys.", nil},
	{"auth.bcrypt_cost", int64(12),
		"Bcrypt cost of a password hash, 10 to 15; each step doubles the time of a sign-in.", nil},
	{"auth.breached_passwords", "",
		"Path of a list of leaked passwords, which are refused: a sorted file, or a directory with a file per range, as the downloader of Have I Been Pwned writes them. Empty for none.", nil},
	{"security.login_log_days", int64(0),
		"Retention of the sign-in log in days, 1 to 3650; overrides the setting, which can only be raised; 0 uses the setting.", nil},
	{"security.login_log_rows", int64(0),
		"Maximum number of rows of the sign-in log, 1000 to 10000000; overrides the setting, which can only be raised; 0 uses the setting.", nil},
	{"backup.recipients", []string{},
		"Recipients that backups are encrypted to, as age recipients (age1…); without any, backups lack secret.key.", nil},
	{"backup.ping_url", "",
		"URL that is requested after a proven copy, if each target but commands has one within backup.proof_hours; of a monitor that raises the alarm when that stops.", maskURL},
	{"backup.local", true,
		"Whether records are copied to the directory backup in the data directory every day, while no [backup.NAME] names a target.", nil},
	{"files.s3.endpoint", "",
		"URL of the S3-compatible service whose bucket keeps the contents of files, like https://s3.eu-central-1.amazonaws.com; empty to keep them in the data directory.", nil},
	{"files.s3.bucket", "", "Bucket of the contents of files.", nil},
	{"files.s3.region", "", "Region of the bucket; empty to ask the service.", nil},
	{"files.s3.prefix", "", "Path in the bucket.", nil},
	{"files.s3.access_key", "", "Access key of the bucket.", maskAll},
	{"files.s3.secret_key", "", "Secret key of the bucket, or file:PATH.", maskAll},
	{"files.s3.path_style", false, "Whether the name of the bucket is in the path of URLs instead of the host.", nil},
	{"files.s3.ca", "", "Path of PEM certificates that are trusted in place of the system's.", nil},
	{"files.s3.cache", int64(1 << 30),
		"Maximum number of bytes in the data directory of contents that the bucket has; the least recently used ones are deleted.", nil},
	{"files.s3.keep", "8d",
		"Time for which the bucket keeps a content that no file has any more, like 8d or 24h; a restore of records that are older may lack it.", nil},
	{"cluster.etcd", []string{},
		"URLs of the members of etcd, all with http or all with https, for several nodes; empty for one node. Needs the program reeve-cluster and files.s3.", nil},
	{"cluster.node", "", "Name of this node for people; empty for the name of the machine.", nil},
	{"cluster.prefix", "reeve", "Beginning of the keys in etcd.", nil},
	{"cluster.etcd_ca", "", "Path of PEM certificates that are trusted for etcd in place of the system's.", nil},
	{"cluster.etcd_cert", "", "Path of the client certificate for etcd, in PEM.", nil},
	{"cluster.etcd_key", "", "Path of the key of the client certificate, in PEM.", nil},
	{"cluster.etcd_user", "", "User of etcd.", nil},
	{"cluster.etcd_password", "", "Password of the user of etcd, or file:PATH.", maskAll},
	{"monitor.max_bytes", int64(256 << 20),
		"Maximum disk space of monitoring in bytes, all its files together; 0 turns monitoring off.", nil},
	{"monitor.min_free", int64(64 << 20),
		"Free disk space in bytes below which the oldest monitoring data is removed.", nil},
	{"monitor.max_age", "168h", "Retention of monitoring events, like 168h or 30m.", nil},
	{"monitor.redis.targets", []string{},
		"Redis servers to monitor, like cache=redis://user:password@host:6379/0; rediss:// uses TLS.", maskTargets},
	{"audit.max_age", "400d", "Retention of the change log, like 400d or 24h; 0 keeps everything.",
		nil},
	{"audit.max_size", int64(1 << 30),
		"Maximum disk space of the stored segments of the change log in bytes; the oldest are dropped. 0 for no limit.", nil},
	{"audit.min_age", "90d",
		"Age up to which entries of the change log are kept even above audit.max_size; health reports it then.", nil},
	{"webhooks.allow", []string{},
		"Addresses, networks (10.0.0.0/8) and host names that webhooks may reach although they are not on the Internet, and by plain http.", nil},
	{"providers.allow", []string{},
		"Addresses, networks and host names of sign-in providers that are not on the Internet, and may be asked by plain http.", nil},
	{"forward_auth.origins", []string{},
		"Origins (https://app.example.org) of programs behind a proxy that asks GET /auth/verify who is signed in.", nil},
	{"forward_auth.cross_origin", []string{},
		"Those of forward_auth.origins whose programs accept changes from pages of other origins; for the others GET /auth/verify refuses such requests.", nil},
	{"forward_auth.url", "",
		"Public URL of this server, like https://reeve.example.org, to which browsers are sent to sign in.", nil},
	{"log.level", "info", "Log level: debug (a line per request), info, warn or error.", nil},
	{"metrics.token", "",
		"Bearer token of GET /metrics, 16 characters or more; without a token the endpoint does not exist.", maskAll},
}

// find returns the key with the given name.
func find(name string) (key, bool) {
	i := slices.IndexFunc(keys, func(k key) bool { return k.name == name })
	if i < 0 {
		return findTarget(name)
	}
	return keys[i], true
}

func (k key) isList() bool {
	_, list := k.value.([]string)
	return list
}

// parse returns the value that a text from the environment or a flag stands for: the text
// itself where the key takes a number and the text is none.
func (k key) parse(text string) any {
	switch k.value.(type) {
	case int64:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
	case bool:
		if b, err := strconv.ParseBool(text); err == nil {
			return b
		}
	case []string:
		items := []any{}
		for _, item := range strings.FieldsFunc(text, func(r rune) bool {
			return r == ',' || r == ' '
		}) {
			items = append(items, item)
		}
		return items
	}
	return text
}

// checkType checks that a value from any source has the type of the key's default.
func (k key) checkType(value any) error {
	ok, want := false, ""
	switch k.value.(type) {
	case string:
		_, ok = value.(string)
		want = "a quoted string"
	case int64:
		_, ok = value.(int64)
		want = "a whole number"
	case bool:
		_, ok = value.(bool)
		want = "true or false"
	case []string:
		items, list := value.([]any)
		ok = list && !slices.ContainsFunc(items, func(item any) bool {
			_, text := item.(string)
			return !text
		})
		want = "a list of strings"
	}

	if !ok {
		return fmt.Errorf("%s must be %s", k.name, want)
	}

	return nil
}

// Example returns the text of config.example.toml: every key with its documentation and
// default.
func Example() string {
	text := "# The configuration of Reeve: every key with its default. Each can also be set in the\n" +
		"# environment: server.listen as REEVE_SERVER__LISTEN, lists separated by commas.\n"
	table := ""
	for _, k := range keys {
		head, name, _ := strings.Cut(k.name, ".")
		if head != table {
			text += "\n[" + head + "]\n"
			table = head
		}
		text += fmt.Sprintf("# %s\n%s = %s\n", k.doc, name, exampleValue(k.value))
		if k.name == "backup.local" {
			text += targetExample()
		}
	}

	return text
}

// exampleValue returns a value in TOML.
func exampleValue(value any) string {
	switch v := value.(type) {
	case string:
		return strconv.Quote(v)
	case []string:
		return strings.ReplaceAll(fmt.Sprintf("%q", v), `" "`, `", "`)
	}
	return fmt.Sprint(value)
}

// targetExample returns a table of a target as comments.
func targetExample() string {
	text := "\n# A target of copies; there can be several, each with a name of its own.\n# [backup.offsite]\n"
	for _, k := range targetKeys {
		text += fmt.Sprintf("# %s = %s # %s\n", k.name, exampleValue(k.value), k.doc)
	}
	return text
}

// effective returns the configuration for display: every value with its source. Secrets
// are masked.
func (c *Config) effective() []web.ConfigValue {
	var all []web.ConfigValue
	for _, key := range c.known() {
		values := []string{c.values.String(key.name)}
		if key.isList() {
			values = c.values.Strings(key.name)
		}
		if key.mask != nil {
			for i, v := range values {
				values[i] = key.mask(v)
			}
		}

		source := c.sources[key.name]
		if source == "" {
			source = "default"
		}

		all = append(all, web.ConfigValue{
			Key:    key.name,
			Value:  strings.Join(values, ", "),
			Source: source,
		})
	}
	return all
}

// known returns the keys, with those of the targets that there are.
func (c *Config) known() []key {
	all := slices.Clone(keys)
	for _, name := range c.values.Keys() {
		if k, ok := findTarget(name); ok {
			all = append(all, k)
		}
	}
	return all
}

// maskURL hides the path of a URL, which can be a secret.
func maskURL(v string) string {
	u, err := url.Parse(v)
	if v == "" || err != nil {
		return maskAll(v)
	}
	return u.Scheme + "://" + u.Host + "/******"
}

// maskAll hides a secret completely, but shows whether it is set.
func maskAll(v string) string {
	if v == "" {
		return ""
	}
	return "******"
}

// maskTargets hides the password in name=redis://user:password@host:port.
func maskTargets(v string) string {
	name, address, _ := strings.Cut(v, "=")
	u, err := url.Parse(address)
	if err != nil {
		return name + "=******"
	}
	return name + "=" + u.Redacted()
}
