package server_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"reeve/server/servertest"
)

// mayImport lists the packages of the module that each package may import. One that is
// missing is a feature of the server that needs no other: see plainFeature. Imports never
// point back.
var mayImport = map[string][]string{
	"reeve/server/cli": {"reeve/auth", "reeve/auth/breached", "reeve/embed",
		"reeve/server", "reeve/server/backup", "reeve/server/config", "reeve/server/local", "reeve/server/manual",
		"reeve/server/cluster", "reeve/store/etcd", // in a program built with the tag cluster
		"reeve/server/ops", "reeve/store/copies",
		"reeve/server/people", "reeve/server/sdk", "reeve/server/service", "reeve/server/setup", "reeve/server/web", "reeve/server/webhook",
		"reeve/store",
		"reeve/store/disk", "reeve/store/kv", "reeve/store/audit", "reeve/store/errs"},
	"reeve/server/backup": {"reeve/server/target", "reeve/server/web", "reeve/store", "reeve/store/audit",
		"reeve/store/copies", "reeve/store/disk", "reeve/store/errs", "reeve/store/kv"},
	"reeve/server/target": {"reeve/store/copies", "reeve/store/s3"},
	"reeve/server/cluster": {"reeve/server/web", "reeve/store", "reeve/store/copies", "reeve/store/disk", "reeve/store/errs", "reeve/store/etcd",
		"reeve/store/kv", "reeve/store/seal", "reeve/store/stream"},
	"reeve/server/config": {"reeve/server/monitor", "reeve/server/redis", "reeve/server/target", "reeve/store/s3",
		"reeve/server/outgoing", "reeve/server/web", "reeve/store", "reeve/store/kv", "reeve/store/fold"},
	"reeve/server": {"reeve/auth", "reeve/server/account", "reeve/server/backup",
		"reeve/server/changes", "reeve/server/files", "reeve/server/forward", "reeve/server/jobs",
		"reeve/server/mails", "reeve/server/openapi", "reeve/server/ops", "reeve/server/pages",
		"reeve/server/people", "reeve/server/person", "reeve/server/providers", "reeve/server/rights",
		"reeve/server/settings", "reeve/server/setup", "reeve/server/web", "reeve/server/webhooks",
		"reeve/store",
		"reeve/store/kv", "reeve/store/errs"},
	"reeve/server/person": {"reeve/server/account", "reeve/server/changes",
		"reeve/server/mails", "reeve/server/monitor", "reeve/server/people", "reeve/server/redact",
		"reeve/server/rights", "reeve/server/web", "reeve/server/webhooks", "reeve/store",
		"reeve/store/kv", "reeve/store/audit", "reeve/store/errs"},
	"reeve/server/web": {"reeve/auth", "reeve/server/coding", "reeve/server/failure",
		"reeve/server/limit", "reeve/server/listen", "reeve/server/live", "reeve/server/local",
		"reeve/server/monitor", "reeve/server/outgoing", "reeve/server/redact", "reeve/store",
		"reeve/store/kv", "reeve/store/audit", "reeve/store/errs", "reeve/store/fold",
		"reeve/store/jsontext", "reeve/store/names"},
	"reeve/server/account": {"reeve/auth", "reeve/server/mails", "reeve/server/people",
		"reeve/server/redact", "reeve/server/web", "reeve/store", "reeve/store/kv",
		"reeve/store/errs", "reeve/store/fold"},
	"reeve/server/people": {"reeve/auth", "reeve/server/jobs", "reeve/server/mails",
		"reeve/server/web", "reeve/store", "reeve/store/kv", "reeve/store/errs",
		"reeve/store/fold", "reeve/store/names"},
	"reeve/server/setup": {"reeve/auth", "reeve/server/jobs", "reeve/server/redact",
		"reeve/server/web", "reeve/server/webhook", "reeve/store", "reeve/store/kv", "reeve/store/errs",
		"reeve/store/fold", "reeve/store/names"},
	"reeve/server/settings": {"reeve/server/changes", "reeve/server/redact",
		"reeve/server/web", "reeve/store", "reeve/store/kv", "reeve/store/audit",
		"reeve/store/errs", "reeve/store/feature", "reeve/store/names"},
	"reeve/server/webhooks": {"reeve/server/changes", "reeve/server/outgoing", "reeve/server/redact",
		"reeve/server/web", "reeve/server/webhook", "reeve/store", "reeve/store/kv",
		"reeve/store/audit", "reeve/store/errs"},
	"reeve/server/changes": {"reeve/server/jobs", "reeve/server/web", "reeve/store",
		"reeve/store/kv", "reeve/store/audit", "reeve/store/errs", "reeve/store/fold"},
	"reeve/server/files": {"reeve/server/jobs", "reeve/server/picture",
		"reeve/server/web", "reeve/store", "reeve/store/blob", "reeve/store/kv",
		"reeve/store/errs", "reeve/store/fold"},
	"reeve/server/mails": {"reeve/auth", "reeve/server/mail", "reeve/server/web",
		"reeve/store", "reeve/store/kv", "reeve/store/audit", "reeve/store/errs"},
	"reeve/server/ops": {"reeve/server/limit", "reeve/server/manual", "reeve/server/monitor",
		"reeve/server/sdk", "reeve/server/web", "reeve/store", "reeve/store/kv",
		"reeve/store/errs"},
	"reeve/server/pages": {"reeve/auth", "reeve/server/account",
		"reeve/server/mails", "reeve/server/web", "reeve/store", "reeve/store/errs"},
	"reeve/server/forward": {"reeve/auth", "reeve/server/pages", "reeve/server/web",
		"reeve/store", "reeve/store/errs"},
	"reeve/server/rights": {"reeve/auth", "reeve/server/people", "reeve/server/web",
		"reeve/store", "reeve/store/kv", "reeve/store/errs"},
	"reeve/server/openapi": {"reeve/server/coding", "reeve/server/redact", "reeve/server/web", "reeve/store",
		"reeve/store/blob", "reeve/store/errs", "reeve/store/kv"},
	"reeve/server/jobs": {"reeve/server/web", "reeve/store", "reeve/store/blob", "reeve/store/kv",
		"reeve/store/audit", "reeve/store/errs"},
	"reeve":                {"reeve/server/cli"},
	"reeve/server/coding":  {},
	"reeve/server/failure": {},
	"reeve/server/local":   {},
	"reeve/server/live":    {},
	"reeve/server/limit":   {"reeve/auth", "reeve/store/errs"},
	"reeve/server/listen":  {"reeve/server/limit", "reeve/store/errs"},
	"reeve/server/manual":  {},
	"reeve/server/monitor": {"reeve/server/redact", "reeve/server/redis",
		"reeve/store", "reeve/store/kv", "reeve/store/journal", "reeve/store/errs",
		"reeve/store/fold"},
	"reeve/server/mail":      {},
	"reeve/server/redact":    {},
	"reeve/server/sdk":       {},
	"reeve/server/service":   {},
	"reeve/server/redis":     {"reeve/store", "reeve/store/kv"},
	"reeve/server/picture":   {"reeve/store/errs"},
	"reeve/server/outgoing":  {"reeve/store/errs"},
	"reeve/server/directory": {"reeve/server/outgoing", "reeve/store", "reeve/store/errs"},
	"reeve/server/provider":  {"reeve/server/outgoing", "reeve/store/errs"},
	"reeve/server/providers": {"reeve/auth", "reeve/server/account", "reeve/server/directory", "reeve/server/outgoing",
		"reeve/server/pages", "reeve/server/provider", "reeve/server/web", "reeve/store", "reeve/store/errs", "reeve/store/fold", "reeve/store/kv"},
	"reeve/server/webhook":             {"reeve/server/outgoing", "reeve/store/errs", "reeve/store/journal"},
	"reeve/server/picture/picturetest": {},
	"reeve/auth/passkeytest":           {},
	"reeve/auth/breached":              {},
	"reeve/auth": {"reeve/auth/breached", "reeve/store/disk", "reeve/store",
		"reeve/store/kv", "reeve/store/errs", "reeve/store/fold"},
	"reeve/store": {"reeve/store/stream", "reeve/store/blob", "reeve/store/kv", "reeve/store/audit",
		"reeve/store/disk", "reeve/store/errs", "reeve/store/feature", "reeve/store/fold",
		"reeve/store/jsontext"},
	"reeve/store/feature": {"reeve/store/errs", "reeve/store/jsontext"},
	"reeve/store/names": {"reeve/store", "reeve/store/kv", "reeve/store/errs", "reeve/store/feature",
		"reeve/store/fold", "reeve/store/jsontext"},
	"reeve/store/jsontext": {"reeve/store/errs"},
	"reeve/store/audit":    {"reeve/store/disk", "reeve/store/errs"},
	"reeve/store/blob":     {"reeve/store/disk", "reeve/store/errs", "reeve/store/seal", "reeve/store/stall"},
	"reeve/store/seal":     {},
	"reeve/store/stream":   {"reeve/store/seal"},
	"reeve/store/stall":    {},
	"reeve/store/kv": {"reeve/store/audit", "reeve/store/blob",
		"reeve/store/disk", "reeve/store/errs", "reeve/store/fold", "reeve/store/seal", "reeve/store/stream", "reeve/store/trigram"},
	"reeve/store/copies": {"reeve/store/audit", "reeve/store/blob", "reeve/store/disk", "reeve/store/errs",
		"reeve/store/kv", "reeve/store/seal", "reeve/store/stall", "reeve/store/stream"},
	"reeve/store/etcd":              {},
	"reeve/store/etcd/etcdtest":     {"reeve/store/etcd"},
	"reeve/store/s3":                {"reeve/store/blob", "reeve/store/copies"},
	"reeve/store/s3/s3test":         {"reeve/store/s3"},
	"reeve/store/stream/streamtest": {"reeve/store/stream"},
	"reeve/store/disk":              {"reeve/store/errs"},
	"reeve/store/disk/disktest":     {},
	"reeve/store/journal":           {"reeve/store/disk", "reeve/store/errs"},
	"reeve/store/errs":              {},
	"reeve/store/fold":              {},
	"reeve/store/trigram":           {},
	"reeve/embed":                   {},
	"reeve/embed/sdk/go":            {},

	"reeve/embed/sdk/go/reevetest": {"reeve/embed/sdk/go"},
}

// plainFeature is what a package below server may import that has no row.
var plainFeature = []string{"reeve/server/coding", "reeve/server/web", "reeve/server/redact", "reeve/store",
	"reeve/store/errs", "reeve/store/fold", "reeve/store/kv"}

// mustNotKnow lists import path prefixes that a package must not import.
var mustNotKnow = map[string][]string{
	"reeve/server/web": {"go.etcd.io", "github.com/knadh/koanf", "flag",
		"golang.org/x/crypto"},
	"reeve/server/account": {"go.etcd.io", "github.com/knadh/koanf", "flag",
		"golang.org/x/crypto"},
	"reeve/server/pages": {"go.etcd.io", "github.com/knadh/koanf", "flag",
		"golang.org/x/crypto"},
	"reeve/server/people": {"go.etcd.io", "github.com/knadh/koanf", "flag",
		"golang.org/x/crypto"},
	"reeve/server/person": {"go.etcd.io", "github.com/knadh/koanf", "flag",
		"golang.org/x/crypto"},
	"reeve/server/rights": {"go.etcd.io", "github.com/knadh/koanf", "flag",
		"golang.org/x/crypto"},
	"reeve/server/forward": {"go.etcd.io", "github.com/knadh/koanf", "flag",
		"golang.org/x/crypto"},
	"reeve/server/settings": {"go.etcd.io", "github.com/knadh/koanf", "flag",
		"golang.org/x/crypto"},
	"reeve/server/files": {"go.etcd.io", "github.com/knadh/koanf", "flag",
		"golang.org/x/crypto"},
	"reeve/server/changes": {"go.etcd.io", "github.com/knadh/koanf", "flag",
		"golang.org/x/crypto"},
	"reeve/server/webhooks": {"go.etcd.io", "github.com/knadh/koanf", "flag",
		"golang.org/x/crypto"},
	"reeve/server/mails": {"go.etcd.io", "github.com/knadh/koanf", "flag",
		"golang.org/x/crypto"},
	"reeve/server/ops": {"go.etcd.io", "github.com/knadh/koanf", "flag",
		"golang.org/x/crypto"},
	"reeve/server/choices": {"go.etcd.io", "github.com/knadh/koanf", "flag",
		"golang.org/x/crypto"},
	"reeve/server/jobs": {"go.etcd.io", "github.com/knadh/koanf", "flag",
		"golang.org/x/crypto"},
	"reeve/server/openapi": {"go.etcd.io", "github.com/knadh/koanf", "flag",
		"golang.org/x/crypto"},
	"reeve/store": {"net/http", "log", "flag", "go.etcd.io", "github.com",
		"golang.org/x/crypto"},
	"reeve/store/kv": {"net", "log", "flag", "github.com/rs/zerolog",
		"github.com/knadh/koanf", "golang.org/x/crypto/bcrypt", "github.com/julienschmidt"},
	"reeve/store/blob":     {"net", "log", "flag", "github.com", "golang.org"},
	"reeve/store/etcd":     {"net/http", "log", "flag"},
	"reeve/store/jsontext": {"net", "log", "flag", "os", "go.etcd.io", "github.com", "golang.org"},
	"reeve/store/feature":  {"net", "log", "flag", "os", "go.etcd.io", "github.com", "golang.org"},
	"reeve/store/trigram":  {"net", "log", "flag", "go.etcd.io", "github.com", "golang.org"},
	"reeve/store/journal":  {"net", "log", "flag", "golang.org", "github.com"},
	"reeve/store/disk":     {"net", "log", "flag", "golang.org/x/crypto", "github.com"},
	"reeve/store/errs":     {"net", "log", "flag", "os", "go.etcd.io", "github.com", "golang.org"},
	"reeve/store/names":    {"net", "log", "flag", "os", "go.etcd.io", "github.com", "golang.org"},
	"reeve/store/fold": {"net", "log", "flag", "os", "go.etcd.io", "github.com",
		"golang.org/x/crypto"},
	"reeve/auth": {"net/http", "log", "flag", "github.com/rs/zerolog",
		"github.com/knadh/koanf", "go.etcd.io/bbolt", "github.com/julienschmidt"},
	"reeve/auth/breached": {"net", "log", "flag", "go.etcd.io", "github.com", "golang.org"},
	"reeve/server/picture": {"net", "log", "flag", "os", "go.etcd.io", "github.com",
		"golang.org/x/crypto"},
	"reeve/server/monitor": {"net/http", "log", "flag", "go.etcd.io", "golang.org",
		"github.com/VictoriaMetrics", "github.com/julienschmidt"},
	"reeve/server/outgoing": {"log", "flag", "go.etcd.io", "github.com", "golang.org"},
	"reeve/server/webhook":  {"log", "flag", "go.etcd.io", "github.com", "golang.org"},
	"reeve/server/mail":     {"net/http", "log", "flag", "go.etcd.io", "golang.org"},
	"reeve/server/redis":    {"net/http", "log", "flag", "os", "go.etcd.io", "golang.org"},
	"reeve/server/manual":   {"net", "log", "flag", "os", "go.etcd.io", "golang.org"},
	"reeve": {"net", "log", "os/signal", "go.etcd.io", "github.com", "golang.org",
		"filippo.io"},
	"reeve/server/cli": {"log", "go.etcd.io", "golang.org"},
	"reeve/server/config": {"net/http", "log", "go.etcd.io", "golang.org/x/crypto",
		"github.com/rs/zerolog"},
	"reeve/server/sdk":             {"net", "log", "flag", "os", "go.etcd.io", "golang.org"},
	"reeve/embed/sdk/go":           {"flag", "os", "go.etcd.io", "github.com", "golang.org"},
	"reeve/embed/sdk/go/reevetest": {"go.etcd.io", "github.com", "golang.org"},
	"reeve/server/redact":          {"log", "flag", "go.etcd.io", "github.com", "golang.org"},
	"reeve/server": {"go.etcd.io/bbolt", "github.com/knadh/koanf", "flag",
		"golang.org/x/crypto"},
	"reeve/embed": {"net", "log", "os", "go.etcd.io", "github.com", "golang.org"},
}

// onlyIn names the only package, with those below it, that may import something, by prefix.
var onlyIn = map[string]string{
	"github.com/knadh/koanf":       "reeve/server/config",
	"flag":                         "reeve/server/cli",
	"github.com/spf13":             "reeve/server/cli",
	"github.com/coreos/go-systemd": "reeve/server/service",
	"github.com/coreos/go-oidc":    "reeve/server/provider",
	"github.com/go-ldap":           "reeve/server/directory",
	"github.com/go-jose":           "reeve/server/provider",
	"golang.org/x/oauth2":          "reeve/server/provider",
	"github.com/yuin":              "reeve/server/manual",
	"github.com/wneessen":          "reeve/server/mail",
	"github.com/minio":             "reeve/store/s3",
	"go.etcd.io/etcd":              "reeve/store/etcd",
	"google.golang.org/grpc":       "reeve/store/etcd",
	"github.com/fxamacker":         "reeve/store/stream",
}

// imports returns the imports of every file of the module except tests and what only they use.
func imports(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}

		name := entry.Name()
		if entry.IsDir() {
			if name == "testdata" || name == "servertest" || path == "../embed/release" || // a module of its own
				path != ".." && strings.HasPrefix(name, ".") || name == "node_modules" {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}

		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}

		dir, err := filepath.Rel("..", filepath.Dir(path))
		if err != nil {
			return err
		}

		pkg := strings.TrimSuffix("reeve/"+filepath.ToSlash(dir), "/.")
		if slices.Contains([]string{"util", "common", "helper", "model", "types"},
			strings.TrimSuffix(file.Name.Name, "s")) {
			t.Errorf("%s: no package is called %s", path, file.Name.Name)
		}

		all[pkg] = append(all[pkg], "")
		for _, spec := range file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			all[pkg] = append(all[pkg], name)
		}

		return nil
	})
	servertest.Must(t, err)
	return all
}

// isWithin reports whether an import path is root or below it.
func isWithin(path, root string) bool {
	return path == root || strings.HasPrefix(path, root+"/")
}

func TestPackageImports_AllowedDirections(t *testing.T) {
	t.Parallel()
	all := imports(t)
	for pkg := range mayImport {
		if all[pkg] == nil {
			t.Errorf("%s has no files", pkg)
		}
	}

	for pkg, names := range all {
		allowed, known := mayImport[pkg]
		feature := isWithin(pkg, "reeve/server") && !known
		if feature {
			allowed = plainFeature
		}
		if !known && !feature {
			t.Errorf("add %s, with the packages that it may import, to mayImport in server/imports_test.go", pkg)
		}

		for _, name := range names {
			wires := pkg == "reeve/server" && isWithin(name, "reeve/server") &&
				mayImport[name] == nil
			if strings.HasPrefix(name, "reeve") && !slices.Contains(allowed, name) && !wires {
				t.Errorf("%s imports %s", pkg, name)
			}

			for _, forbidden := range mustNotKnow[pkg] {
				if isWithin(name, forbidden) {
					t.Errorf("%s imports %s", pkg, name)
				}
			}

			for reserved, owner := range onlyIn {
				if !isWithin(pkg, owner) && isWithin(name, reserved) {
					t.Errorf("%s imports %s, which only %s may", pkg, name, owner)
				}
			}
		}
	}
}
