package cli

import (
	"os"

	"github.com/spf13/pflag"
)

// serverCommands are about the server.
var serverCommands = []command{
	{
		name:   "serve",
		help:   "Run the server until SIGTERM or SIGINT; the default",
		run:    (*program).serve,
		flags:  serveFlags,
		serves: true,
	},
	{name: "status", help: "Print whether the server runs, and how it is", call: (*program).printStatus},
	{
		name: "doctor",
		help: "Examine server, disk, certificate, backups and configuration, and say what to do",
		run:  (*program).doctor,
		json: true,
	},
	{
		name:  "health",
		help:  "Ask the running server whether it is ready; for supervisors",
		run:   (*program).health,
		flags: listenFlag,
	},
	{
		name: "reload",
		help: "Let the running server read its configuration again, and print what has changed",
		call: (*program).askReload,
	},
	{
		name: "log level",
		args: "[LEVEL]",
		help: "Print or set the level of the running server's log, until the next reload or start",
		call: (*program).logLevel,
	},
	{
		name: "cluster init",
		help: "Begin a cluster with the data of this stopped server",
		run:  (*program).clusterInit,
	},
	{
		name: "cluster status",
		help: "Print the nodes of the cluster and the members of etcd",
		run:  (*program).clusterStatus,
		json: true,
	},
	{
		name: "cluster join",
		help: "Let this stopped node take the data of the cluster, also of one on another etcd, at its next start",
		run:  (*program).clusterJoin,
	},
	{
		name:  "cluster restore",
		args:  "[TARGET|FILE]",
		help:  "Replace the data of all nodes with a copy at a target, a backup, or the data of this stopped node",
		run:   (*program).clusterRestore,
		flags: clusterRestoreFlags,
	},
	{
		name: "cluster upgrade",
		help: "Bring the data of a stopped cluster to the schema of this program",
		run:  (*program).clusterUpgrade,
	},
	{
		name: "cluster leave",
		help: "Make the data of this stopped node independent of the cluster",
		run:  (*program).clusterLeave,
	},
	{name: "top", help: "Print what the running server does now, and its slowest routes", call: (*program).top},
	{
		name: "support",
		args: "[FILE]",
		help: "Write a report about the server without secrets and names, for those who help you",
		call: (*program).support,
	},
}

// recordCommands read and change records.
var recordCommands = []command{
	{
		name: "user list",
		help: "List users",
		call: (*program).listUsers,
		flags: func(f *pflag.FlagSet, _ *program) {
			f.String("search", "", "only users with this `TEXT` in a name or an address")
			f.String("role", "", "only users with this `ROLE`")
		},
	},
	{name: "user add", args: "USERNAME", help: "Create a user", call: (*program).addUser, flags: userFlags},
	{name: "user enable", args: "USERNAME", help: "Let a user sign in again", call: (*program).enableUser},
	{
		name: "user disable",
		args: "USERNAME",
		help: "Let a user no longer sign in, and end the user's sessions",
		call: (*program).disableUser,
	},
	{
		name: "user reset",
		args: "[USERNAME]",
		help: "Give a user, or with --owner an owner, a new password, and remove the second factor",
		call: (*program).resetUser,
		flags: func(f *pflag.FlagSet, p *program) {
			f.Bool("owner", false, "reset the first enabled user with the owner role")
			outputFlag(f, p)
		},
	},
	{name: "user sessions", args: "USERNAME", help: "List a user's sessions", call: (*program).userSessions},
	{name: "user sign-out", args: "USERNAME", help: "End a user's sessions", call: (*program).signOutUser},
	{name: "role list", help: "List roles", call: (*program).listRoles},
	{name: "role grant", args: "USERNAME ROLE…", help: "Give a user roles", call: (*program).grantRole},
	{name: "role revoke", args: "USERNAME ROLE…", help: "Take roles from a user", call: (*program).revokeRole},
	{name: "key list", help: "List API keys", call: (*program).listKeys},
	{
		name:  "key new",
		args:  "NAME",
		help:  "Create an API key of the first owner, and print it",
		call:  (*program).newKey,
		flags: keyFlags,
	},
	{
		name: "key rotate",
		args: "NAME",
		help: "Give an API key a new secret, and print it",
		call: (*program).rotateAPIKey,
		flags: func(f *pflag.FlagSet, p *program) {
			f.Int("overlap-hours", 24, "let the previous one remain valid for these `HOURS`")
			outputFlag(f, p)
		},
	},
	{name: "key revoke", args: "NAME", help: "Delete an API key", call: (*program).revokeKey},
	{
		name: "setting list",
		args: "[PREFIX]",
		help: "List settings, or those whose names begin so",
		call: (*program).listSettings,
	},
	{name: "setting get", args: "NAME", help: "Print the value of a setting", call: (*program).getSetting},
	{
		name: "setting set",
		args: "NAME VALUE",
		help: "Save the value of a setting; - reads it from the standard input",
		call: (*program).setSetting,
	},
	{name: "flag list", help: "List feature flags", call: (*program).listFlags},
	{name: "flag get", args: "NAME", help: "Print the state of a feature flag", call: (*program).getFlag},
	{
		name: "flag set",
		args: "NAME enabled|disabled|VARIANT",
		help: "Enable or disable a feature flag, or make a variant its default",
		call: (*program).setFlag,
	},
	{
		name:  "audit tail",
		help:  "Print the last entries of the change log",
		call:  (*program).tailLog,
		flags: tailFlags,
	},
	{name: "audit undo", args: "NUMBER", help: "Undo an entry of the change log", call: (*program).undoLog},
	{
		name: "event tail",
		help: "Print changes as they are made, until interrupted",
		call: (*program).tailEvents,
		flags: func(f *pflag.FlagSet, _ *program) {
			f.StringSlice("type", nil, "only events of this `TYPE`, such as user.created; can be repeated")
		},
	},
}

// setupCommands work with setup files.
var setupCommands = []command{
	{
		name:  "plan",
		args:  "FILE|DIR…",
		help:  "Print what apply would change; the exit code is 2 if that is something",
		call:  (*program).plan,
		flags: setupFlags,
	},
	{
		name:  "apply",
		args:  "FILE|DIR…",
		help:  "Make the installation as setup files say: permissions, roles, settings and more",
		call:  (*program).apply,
		flags: setupFlags,
	},
	{
		name: "export",
		args: "DIR",
		help: "Write the installation as setup files, without users and secrets",
		call: (*program).exportSetup,
	},
	{
		name:  "types",
		args:  "typescript|go [FILE]",
		help:  "Write permissions, settings and flags as types for your program, so that its compiler finds typos",
		call:  (*program).writeTypes,
		flags: typesFlags,
	},
}

// dataCommands work on files.
var dataCommands = []command{
	{
		name: "backup now",
		args: "[TARGET|FILE|DIR]",
		help: "Make a copy at a target, or write a backup, to the directory backup in the data directory by default",
		call: (*program).backupNow,
	},
	{
		name: "backup list",
		args: "[TARGET|DIR]",
		help: "List the copies at a target, or the backups in a directory, by default at all targets",
		run:  (*program).listBackups,
		json: true,
		flags: func(f *pflag.FlagSet, p *program) {
			f.StringVar(&p.identity, "identity", "",
				"read the copies at targets with the age identities in this `FILE`, and show damage and all moments that can be restored")
		},
	},
	{
		name:  "backup check",
		args:  "TARGET|FILE",
		help:  "Restore a copy at a target or a backup to a temporary directory and verify it",
		run:   (*program).checkBackupFile,
		json:  true,
		flags: checkFlags,
	},
	{
		name:  "backup identity",
		help:  "Print a new identity and recipient for encrypted backups",
		run:   (*program).newIdentity,
		plain: true,
	},
	{
		name:  "backup restore",
		args:  "TARGET|FILE",
		help:  "The same as restore",
		run:   (*program).restore,
		flags: restoreFlags,
		json:  true,
	},
	{
		name: "backup targets",
		help: "List the targets of copies, and how they are",
		call: (*program).listTargets,
	},
	{
		name: "backup recipient",
		args: "FILE",
		help: "Make an identity in a new file, or prove that a file has one, so that copies can be encrypted to it",
		run:  (*program).addRecipient,
	},
	{
		name:  "restore",
		args:  "TARGET|FILE",
		help:  "Replace the data with a copy at a target or a backup; the server must be stopped",
		run:   (*program).restore,
		flags: restoreFlags,
		json:  true,
	},
	{
		name: "verify",
		help: "Check every record of the database; of a running server in a copy",
		run:  (*program).verify,
		json: true,
	},
	{
		name: "audit verify",
		args: "[FILE…]",
		help: "Check that no entry of the change log, or of exported files of it, was altered",
		run:  (*program).verifyLog,
		json: true,
		flags: func(f *pflag.FlagSet, p *program) {
			f.StringVar(&p.head, "head", "", "the log must contain this entry, a "+
				"`GENERATION:NUMBER:HASH` from a backup or the server's log")
		},
	},
	{
		name: "files move",
		args: "s3|local",
		help: "Move the contents of files to the bucket of files.s3, or back to the data directory",
		call: (*program).moveFiles,
	},
	{
		name: "files cancel",
		help: "End the move of the contents of files; what was moved stays",
		call: (*program).cancelMove,
	},
	{
		name: "compact",
		help: "Reclaim free space by rewriting both database files, also beside a running server",
		run:  (*program).compact,
		json: true,
	},
	{
		name: "salvage",
		args: "NEWDIR",
		help: "Copy the intact part of damaged data to a new directory; the server must be stopped",
		run:  (*program).salvage,
	},
	{
		name: "secret rotate",
		help: "Replace secret.key and reencrypt every secret value; the server must be stopped",
		run:  (*program).rotateKey,
	},
}

// plainCommands need no installation.
var plainCommands = []command{
	{
		name:   "dev",
		args:   "[FILE|DIR…]",
		help:   "Run a throw-away server with setup files, for development and tests",
		run:    (*program).dev,
		flags:  devFlags,
		plain:  true,
		json:   true,
		serves: true,
	},
	{
		name:  "sdk",
		args:  "typescript|go DIR",
		help:  "Write the client for a language into a directory of your product",
		run:   (*program).writeSDK,
		plain: true,
	},
	{
		name:  "config",
		help:  "Print config.example.toml",
		run:   (*program).example,
		plain: true,
	},
	{
		name:  "version",
		help:  "Print the version",
		run:   (*program).printVersion,
		plain: true,
	},
	{
		name:  "licenses",
		help:  "Print the licenses of the software in the program",
		run:   (*program).printNotice,
		plain: true,
	},
	{
		name:  "help",
		args:  "[TOPIC…]",
		help:  "Print a topic of the manual or the flags of a command, or the list of topics",
		run:   (*program).help,
		plain: true,
	},
}

// groups are the commands that only have others below them.
var groups = map[string]string{
	"audit":   "Read, check and undo the change log",
	"backup":  "Write, list and check backups",
	"cluster": "Run several nodes with the same data",
	"event":   "Follow changes",
	"files":   "Move the contents of files",
	"flag":    "Read and set feature flags",
	"key":     "Manage API keys",
	"log":     "Change the log of the running server",
	"role":    "List, grant and revoke roles",
	"secret":  "Manage the key of secret values",
	"setting": "Read and change settings",
	"user":    "Manage users",
}

func identityFlag(f *pflag.FlagSet, p *program) {
	f.StringVar(&p.identity, "identity", "",
		"decrypt the backup with the age identities in this `FILE`")
}

func copyFlags(f *pflag.FlagSet, p *program) {
	identityFlag(f, p)
	f.String("copy", "", "the copy at the target with this `NAME`, or the newest of the installation with it; without --at and --before, no later commit is applied")
	f.String("at", "", "restore the state at this `TIME`, from a target")
	f.Uint64("before", 0, "restore the state before this `ENTRY` of the change log, from a target")
}

func restoreFlags(f *pflag.FlagSet, p *program) {
	copyFlags(f, p)
	f.Bool("return-rights", false, "bring back rights that were withdrawn since, such as those of disabled users and deleted keys")
}

func checkFlags(f *pflag.FlagSet, p *program) {
	copyFlags(f, p)
	f.String("temp", os.TempDir(), "restore a copy at a target below this `DIRECTORY`")
}
