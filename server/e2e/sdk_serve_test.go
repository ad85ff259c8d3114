package e2e

import (
	"os"
	"path/filepath"
	"testing"
)

// TestClientLibraries_Install installs both clients from a server without any other network. A
// second server of the same version has packages with the same hashes in go.sum and
// package-lock.json.
func TestClientLibraries_Install(t *testing.T) {
	t.Parallel()
	onlyInCI(t, "it installs packages with go and npm")
	one, other := start(t, t.TempDir()), start(t, t.TempDir())
	t.Run("go", func(t *testing.T) {
		needs(t, "go")
		dir := t.TempDir()
		writeTree(t, dir, map[string]string{
			"go.mod":  "module shop\n\ngo 1.24\n",
			"main.go": "package main\n\nimport _ \"reeve.internal/reeve\"\n\nfunc main() {}\n",
		})
		from := func(server *process) []string {
			return []string{"GOPROXY=" + server.url + "/sdk/go", "GONOSUMDB=reeve.internal",
				"GOMODCACHE=" + t.TempDir(), "GOFLAGS=-modcacherw", "GOPRIVATE=", "GONOPROXY=",
				"GOTOOLCHAIN=local", "GOWORK=off"}
		}
		env := from(one)
		command(t, dir, env, "go", "get", "reeve.internal/reeve@latest")
		command(t, dir, env, "go", "mod", "verify")
		command(t, dir, env, "go", "build", "-o", os.DevNull, ".")
		command(t, dir, from(other), "go", "build", "-mod=readonly", "-o", os.DevNull, ".")
	})
	t.Run("npm", func(t *testing.T) {
		needs(t, "npm")
		dir := t.TempDir()
		writeTree(t, dir, map[string]string{
			"package.json": `{"name":"shop","version":"1.0.0","type":"module"}`,
			"main.js":      "import { Reeve } from '@reeve/client'\nnew Reeve({ url: 'http://127.0.0.1' })\n",
		})
		env := func() []string {
			return []string{"npm_config_cache=" + t.TempDir(),
				"npm_config_registry=" + one.url + "/none", "npm_config_update_notifier=false",
				"npm_config_fetch_retries=0"}
		}
		command(t, dir, env(), "npm", "install", "--no-audit", "--no-fund",
			one.url+"/sdk/typescript/reeve-client.tgz")
		command(t, dir, nil, "node", "main.js")
		noErr(t, os.RemoveAll(filepath.Join(dir, "node_modules")))
		command(t, dir, env(), "npm", "ci", "--no-audit", "--no-fund") // which compares the hash
	})
}
