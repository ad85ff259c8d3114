// Package cli is Reeve's command line: it finds the command, reads the flags and the
// configuration, opens the log, and runs the command. The default command, serve, runs the
// server; the others print something or work on the data of a server that is stopped.
//
// Start with commands, the table that Run and the usage text are made from, and with
// program, the state of one run, whose methods are the commands. To add a command, add a
// row and a method.
//
// Results go to out, and the log to errOut. A command returns its error, which main prints
// once and turns into exit code 1. Variables with passwords are taken out of the environment
// before the configuration is read. Commands that need the open database share open, so
// that all of them seed and upgrade it in the same way.
//
//	err := cli.Run("1.2.3", []string{"verify", "--data", "/srv/reeve"}, os.Stdout, os.Stderr)
package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"reeve/auth"
	"reeve/server/config"
)

// command is a row of the table of commands.
type command struct {
	name, args, help string
	run              func(*program) error
	plain            bool // needs no configuration
}

// commands has the default command first.
var commands = []command{
	{"serve", "", "serve until SIGTERM or SIGINT (what happens without a command)", (*program).serve, false},
	{"version", "", "print the version", (*program).printVersion, true},
	{"verify", "", "check every record of the database; the server must be stopped", (*program).verify, false},
	{"restore", "FILE", "put a backup in the place of the data, decrypted with --identity; the server must be stopped", (*program).restore, false},
	{"key rotate", "", "replace secret.key and seal every secret value again; the server must be stopped", (*program).rotateKey, false},
	{"key identity", "", "print a new identity and recipient for encrypted backups", (*program).newIdentity, true},
	{"salvage", "NEWDIR", "copy what is sound of damaged data to a new directory; the server must be stopped", (*program).salvage, false},
	{"compact", "", "give the room of what was deleted back to the disk; the server must be stopped", (*program).compact, false},
	{"admin recover", "", "give an owner a new password; the server must be stopped", (*program).recover, false},
	{"config", "", "print config.example.toml", (*program).example, true},
}

// program is one run of a command.
type program struct {
	version  string
	args     []string // after the command, without flags
	identity string   // path of the file of --identity
	out, err io.Writer

	first, firstFile string // values of passwordVariable and passwordFileVariable

	config *config.Config
	log    zerolog.Logger
}

// Run runs the command that args begin with, or serve if they name none. Only serve handles
// SIGINT and SIGTERM; they end any other command at once.
func Run(version string, args []string, out, errOut io.Writer) error {
	cmd, args, err := findCommand(args)
	if err != nil {
		return err
	}
	p := &program{version: version, out: out, err: errOut}
	p.first, p.firstFile = auth.TakeVariable(passwordVariable), auth.TakeVariable(passwordFileVariable)
	f := newFlags(cmd)
	if p.args, err = f.parse(args); errors.Is(err, flag.ErrHelp) {
		usage(out, f)
		return nil
	} else if err != nil {
		return err
	}
	if want := len(strings.Fields(cmd.args)); len(p.args) != want {
		return fmt.Errorf("usage: %s; the command comes first", strings.TrimSpace("reeve "+cmd.name+" [flags] "+cmd.args))
	}
	p.identity = f.identity
	if !cmd.plain {
		if err := p.configure(f); err != nil {
			return err
		}
	}
	return cmd.run(p)
}

// findCommand returns the command that args begin with, and the arguments after it.
func findCommand(args []string) (command, []string, error) {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return commands[0], args, nil
	}
	for _, c := range commands {
		if words := strings.Fields(c.name); len(args) >= len(words) && slices.Equal(args[:len(words)], words) {
			return c, args[len(words):], nil
		}
	}
	return command{}, nil, fmt.Errorf("there is no command %q; `reeve --help` lists them", strings.Join(args, " "))
}

// configure loads the configuration and opens the log.
func (p *program) configure(f *flags) (err error) {
	if p.config, err = config.Load(f.config, f.keys()); err != nil {
		return err
	}
	if p.log, err = newLog(p.err, p.config.LogLevel); err != nil {
		return err
	}
	p.warn(p.config.Warnings)
	return nil
}

func (p *program) warn(warnings []string) {
	for _, w := range warnings {
		p.log.Warn().Msg(w)
	}
}

func (p *program) printVersion() error {
	_, err := fmt.Fprintf(p.out, "reeve %s %s %s/%s\n", p.build(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// build returns the version and, if it is known, the commit.
func (p *program) build() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return p.version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return p.version + "+" + s.Value[:12]
		}
	}
	return p.version
}

// example prints config.example.toml.
func (p *program) example() error {
	_, err := io.WriteString(p.out, config.Example())
	return err
}
