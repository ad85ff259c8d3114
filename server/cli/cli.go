// Package cli is Reeve's command line: it finds the command, reads the flags and the
// configuration, opens the log, and runs the command. The default command, serve, runs
// the server; the other commands print something or work on the data of a stopped
// server.
//
// Start with commands, the table for Run and the usage text, and with program, the
// state of one run, whose methods are the commands. To add a command, add a row and a
// method.
//
// Results go to out, and the log to errOut. A command returns its error, which main
// prints once, with the exit code of ExitCode. Environment variables with passwords are
// removed before the configuration is read. Commands that need the open database share
// open, so that all of them seed and upgrade it in the same way.
//
//	err := cli.Run(cli.Release{Version: "1.2.3"}, []string{"verify", "--data", "/srv/reeve"}, os.Stdout, os.Stderr)
package cli

import (
	"cmp"
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
	"reeve/auth/breached"
	"reeve/server/config"
	"reeve/store"
	"reeve/store/errs"
)

// command is a row of the table of commands.
type command struct {
	name, args, help string
	run              func(*program) error
	plain            bool // needs no configuration
}

// commands is the table of commands, the default command first.
var commands = []command{
	{"serve", "", "run the server until SIGTERM or SIGINT (default)", (*program).serve, false},
	{"version", "", "print the version", (*program).printVersion, true},
	{"verify", "", "check every record of the database; the server must be stopped",
		(*program).verify, false},
	{"restore", "FILE",
		"replace the data with a backup, decrypted with --identity; the server must be stopped",
		(*program).restore, false},
	{"key rotate", "",
		"replace secret.key and reencrypt every secret value; the server must be stopped",
		(*program).rotateKey, false},
	{"key identity", "", "print a new identity and recipient for encrypted backups",
		(*program).newIdentity, true},
	{"salvage", "NEWDIR",
		"copy the intact part of damaged data to a new directory; the server must be stopped",
		(*program).salvage, false},
	{"audit verify", "[FILE…]",
		"check that no entry of the change log, or of exported files of it, was altered",
		(*program).verifyLog, false},
	{"compact", "",
		"reclaim free space by rewriting both database files; the server must be stopped",
		(*program).compact, false},
	{"admin recover", "",
		"reset the password and second factor of an owner; the server must be stopped",
		(*program).recover, false},
	{"licenses", "", "print the licenses of the software in the program", (*program).printNotice,
		true},
	{"help", "[TOPIC]", "print a topic of the manual, or the list of topics", (*program).help,
		true},
	{"config", "", "print config.example.toml", (*program).example, true},
}

// takes reports whether the command can have n arguments; one in brackets is optional, and one that
// ends with … can be repeated.
func (c *command) takes(n int) bool {
	all := len(strings.Fields(c.args))
	if strings.HasSuffix(c.args, "…]") {
		n = min(n, all)
	}
	return n <= all && n >= all-strings.Count(c.args, "[")
}

// Release is the version of the program and its licenses, as main knows them.
type Release struct {
	Version string
	Notice  string // the text of NOTICE
}

// program is one run of a command.
type program struct {
	version  string
	notice   string
	command  string   // name of the command
	args     []string // arguments after the command, without flags
	identity string   // value of --identity: path of a file
	head     string   // value of --head: head of the change log
	out, err io.Writer

	firstName, first, firstFile string // values of usernameVariable, passwordVariable and passwordFileVariable

	config   *config.Config
	breached *breached.List // leaked passwords, for serve; nil for none
	log      zerolog.Logger
}

// Run runs the command that args begin with, or serve if there is none. Only serve
// handles SIGINT and SIGTERM; they end any other command at once.
func Run(release Release, args []string, out, errOut io.Writer) error {
	cmd, args, err := findCommand(args)
	if err != nil {
		return err
	}
	p := &program{
		version: release.Version,
		notice:  release.Notice,
		command: cmd.name,
		out:     out,
		err:     errOut,
	}
	p.firstName = cmp.Or(strings.TrimSpace(auth.TakeVariable(usernameVariable)), firstUser)
	p.first, p.firstFile = auth.TakeVariable(passwordVariable), auth.TakeVariable(passwordFileVariable)
	f := newFlags(cmd)
	if p.args, err = f.parse(args); errors.Is(err, flag.ErrHelp) {
		usage(out, f)
		return nil
	} else if err != nil {
		return err
	}
	if !cmd.takes(len(p.args)) {
		return fmt.Errorf("usage: %s; the command comes first",
			strings.TrimSpace("reeve "+cmd.name+" [flags] "+cmd.args))
	}
	p.identity, p.head = f.identity, f.head
	if !cmd.plain {
		if err := p.configure(f); err != nil {
			return err
		}
	}
	if err = cmd.run(p); store.IsDamage(err) && cmd.name != "restore" &&
		!strings.Contains(err.Error(), p.config.DataDir) {
		err = fmt.Errorf("%s: %w", p.config.DataDir, err)
	}
	return errs.ForOperator(err)
}

// wayOut is the advice to the operator about damage that a command has found.
const wayOut = "restore a backup with `reeve restore FILE`, or copy the intact data with `reeve salvage NEWDIR`"

// exit is an error with an exit code of its own.
type exit struct {
	error
	code int
}

// alteredCode is the exit code of a check that has found the change log altered or damaged.
const alteredCode = 2

// ExitCode returns the exit code of the program for the error of Run.
func ExitCode(err error) int {
	var e exit
	switch {
	case err == nil:
		return 0
	case errors.As(err, &e):
		return e.code
	}
	return 1
}

// findCommand returns the command that args begin with, and the arguments after it.
func findCommand(args []string) (command, []string, error) {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return commands[0], args, nil
	}
	for _, c := range commands {
		if words := strings.Fields(c.name); len(args) >= len(words) &&
			slices.Equal(args[:len(words)], words) {
			return c, args[len(words):], nil
		}
	}
	return command{}, nil, fmt.Errorf("unknown command %q; `reeve --help` lists them",
		strings.Join(args, " "))
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
	_, err := fmt.Fprintf(p.out, "reeve %s %s %s/%s\n", p.build(), runtime.Version(), runtime.GOOS,
		runtime.GOARCH)
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

// printNotice prints NOTICE.
func (p *program) printNotice() error {
	_, err := io.WriteString(p.out, p.notice)
	return err
}

// example prints config.example.toml.
func (p *program) example() error {
	_, err := io.WriteString(p.out, config.Example())
	return err
}
