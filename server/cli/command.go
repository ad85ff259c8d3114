package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// command is a row of the table of commands. It has one of run and call.
type command struct {
	name, args, help string
	run              func(*program) error
	call             func(*program, *client) error  // uses the running server, or the data of a stopped one
	plain            bool                           // needs no configuration
	json             bool                           // has the flag --json, like every command with call
	serves           bool                           // runs a server until a signal
	flags            func(*pflag.FlagSet, *program) // flags of its own; nil for none
}

// commands is the table of commands.
var commands = slices.Concat(serverCommands, recordCommands, setupCommands, dataCommands,
	plainCommands)

// Tree returns the root of the commands, which runs serve itself.
func Tree(release Release, out, errOut io.Writer) *cobra.Command {
	p := &program{Release: release, out: out, err: errOut}
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
		if c.json || c.call != nil {
			cmd.Flags().BoolVar(&p.json, "json", false, "print JSON, for programs")
		}
		if c.call != nil {
			cmd.Flags().String("reason", "", "`TEXT` for the change log")
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
		text += fmt.Sprintf("  %-30s %s\n", strings.TrimSpace(c.name+" "+c.args), c.help)
	}
	text += fmt.Sprintf("  %-30s %s\n", "completion SHELL", "Print the completion script for bash, zsh, fish or powershell")
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
	group := &cobra.Command{Use: name, Short: groups[name], Args: unknown, RunE: showHelp}
	root.AddCommand(group)
	return group
}

func showHelp(cmd *cobra.Command, _ []string) error { return cmd.Help() }

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
	if strings.HasSuffix(strings.TrimSuffix(c.args, "]"), "…") {
		n = min(n, all)
	}
	if n <= all && n >= all-strings.Count(c.args, "[") {
		return nil
	}
	return fmt.Errorf("usage: %s", cmd.UseLine())
}

// flagKeys maps a flag to the configuration key that it sets.
var flagKeys = map[string]string{"data": "data.dir", "listen": "server.listen"}

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
