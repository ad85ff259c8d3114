package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// command is a row of the table of commands.
type command struct {
	name, args, help string
	run              func(*program) error
	plain            bool                           // needs no configuration
	flags            func(*pflag.FlagSet, *program) // flags of its own; nil for none
}

// commands is the table of commands.
var commands = []command{
	{
		name:  "serve",
		help:  "Run the server until SIGTERM or SIGINT; the default",
		run:   (*program).serve,
		flags: serveFlags,
	},
	{
		name:  "version",
		help:  "Print the version",
		run:   (*program).printVersion,
		plain: true,
	},
	{
		name:  "health",
		help:  "Ask the running server whether it is ready; for supervisors",
		run:   (*program).health,
		flags: serveFlags,
	},
	{
		name: "reload",
		help: "Let the running server read its configuration again; its log says what has changed",
		run:  (*program).askReload,
	},
	{
		name: "verify",
		help: "Check every record of the database; the server must be stopped",
		run:  (*program).verify,
	},
	{
		name: "restore",
		args: "FILE",
		help: "Replace the data with a backup; the server must be stopped",
		run:  (*program).restore,
		flags: func(f *pflag.FlagSet, p *program) {
			f.StringVar(&p.identity, "identity", "",
				"decrypt the backup with the age identities in this `FILE`")
		},
	},
	{
		name: "key rotate",
		help: "Replace secret.key and reencrypt every secret value; the server must be stopped",
		run:  (*program).rotateKey,
	},
	{
		name:  "key identity",
		help:  "Print a new identity and recipient for encrypted backups",
		run:   (*program).newIdentity,
		plain: true,
	},
	{
		name: "salvage",
		args: "NEWDIR",
		help: "Copy the intact part of damaged data to a new directory; the server must be stopped",
		run:  (*program).salvage,
	},
	{
		name: "audit verify",
		args: "[FILE…]",
		help: "Check that no entry of the change log, or of exported files of it, was altered",
		run:  (*program).verifyLog,
		flags: func(f *pflag.FlagSet, p *program) {
			f.StringVar(&p.head, "head", "", "the log must contain this entry, a "+
				"`GENERATION:NUMBER:HASH` from a backup or the server's log")
		},
	},
	{
		name: "compact",
		help: "Reclaim free space by rewriting both database files; the server must be stopped",
		run:  (*program).compact,
	},
	{
		name: "admin recover",
		help: "Reset the password and second factor of an owner; the server must be stopped",
		run:  (*program).recover,
	},
	{
		name:  "sdk",
		args:  "typescript|go DIR",
		help:  "Write the client for a language into a directory of your product",
		run:   (*program).writeSDK,
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
	{
		name:  "config",
		help:  "Print config.example.toml",
		run:   (*program).example,
		plain: true,
	},
}

// groups are the commands that only have others below them.
var groups = map[string]string{
	"key":   "Rotate secret.key, and make keys for encrypted backups",
	"audit": "Check the change log",
	"admin": "Let an owner in again",
}

// Tree returns the root of the commands, which runs serve itself.
func Tree(release Release, out, errOut io.Writer) *cobra.Command {
	p := &program{version: release.Version, notice: release.Notice, out: out, err: errOut}
	root := &cobra.Command{
		Use:           "reeve",
		Short:         "An administration backend in one program",
		SilenceErrors: true, // main prints the error, once
		SilenceUsage:  true,
	}
	root.SetOut(out)
	root.SetErr(errOut)
	f := root.PersistentFlags()
	f.StringVar(&p.file, "config", "", "read this `FILE` instead of config.toml")
	f.String("data", "", "keep the data in this `DIRECTORY` (data.dir)")
	for i := range commands {
		c := &commands[i]
		parent, name := root, c.name
		if group, rest, found := strings.Cut(c.name, " "); found {
			parent, name = groupOf(root, group), rest
		}

		cmd := &cobra.Command{
			Use:                   strings.TrimSpace(name + " " + c.args),
			Short:                 c.help,
			Args:                  c.validate,
			RunE:                  p.runs(c),
			DisableFlagsInUseLine: true,
		}
		if c.flags != nil {
			c.flags(cmd.Flags(), p)
		}
		if name == "help" {
			root.SetHelpCommand(cmd)
		}

		parent.AddCommand(cmd)
	}

	helpOf := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if cmd != root {
			helpOf(cmd, args)
			return
		}
		fmt.Fprint(out, overview(root))
	})
	p.root = root
	serve := &commands[0]
	root.Args, root.RunE = unknown, p.runs(serve)
	serve.flags(root.Flags(), p)
	return root
}

// overview lists all commands, and the flags of serve.
func overview(root *cobra.Command) string {
	text := "Usage: reeve [COMMAND] [FLAGS]\n\nCommands:\n"
	for _, c := range commands {
		text += fmt.Sprintf("  %-22s %s\n", strings.TrimSpace(c.name+" "+c.args), c.help)
	}
	text += fmt.Sprintf("  %-22s %s\n", "completion SHELL", "Print the completion script for bash, zsh, fish or powershell")
	return text + "\nFlags:\n" + root.Flags().FlagUsages() +
		"\nThe flags of a command: reeve COMMAND --help\n"
}

// groupOf returns the command below root that has no purpose but its subcommands.
func groupOf(root *cobra.Command, name string) *cobra.Command {
	for _, c := range root.Commands() {
		if c.Name() == name {
			return c
		}
	}
	group := &cobra.Command{Use: name, Short: groups[name], Args: unknown,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	root.AddCommand(group)
	return group
}

// unknown rejects arguments of a command that takes none, because they name no subcommand.
func unknown(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("unknown command %q; `%s --help` lists them", args[0], cmd.CommandPath())
}

// validate returns an error unless the command can have the arguments; one in brackets is optional,
// and one that ends with … can be repeated.
func (c *command) validate(cmd *cobra.Command, args []string) error {
	n, all := len(args), len(strings.Fields(c.args))
	if strings.HasSuffix(c.args, "…]") {
		n = min(n, all)
	}
	if n <= all && n >= all-strings.Count(c.args, "[") {
		return nil
	}
	return fmt.Errorf("usage: %s", cmd.UseLine())
}

// flagKeys maps a flag to the configuration key that it sets.
var flagKeys = map[string]string{"data": "data.dir", "listen": "server.listen"}

func serveFlags(f *pflag.FlagSet, _ *program) {
	f.String("listen", "", "listen on this `ADDRESS` (server.listen)")
}

// keysOf returns the values for the configuration, by key. It includes flags that are set
// to an empty value.
func keysOf(f *pflag.FlagSet) map[string]string {
	set := map[string]string{}
	f.Visit(func(given *pflag.Flag) {
		if name := flagKeys[given.Name]; name != "" {
			set[name] = given.Value.String()
		}
	})
	return set
}
