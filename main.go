// Reeve is an administration backend in one program: users, roles, permissions, settings
// and more behind a JSON interface, with all data in embedded files in one directory.
//
// The commands are in server/cli, the configuration in server/config, the HTTP interface in
// server, sign-in in auth, and the data in store.
package main

import (
	"fmt"
	"os"

	"reeve/server/cli"
)

// version is raised with every release, and with every change of the schema.
const version = "0.16.9"

func main() {
	release := cli.Release{Version: version, Config: "/etc/reeve/config.toml", Data: "/var/lib/reeve"}
	if err := cli.Run(release, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "reeve:", err)
		os.Exit(cli.ExitCode(err))
	}
}
