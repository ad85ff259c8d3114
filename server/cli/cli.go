// Package cli is Reeve's command line: it finds the command, reads the flags and the
// configuration, opens the log, and runs the command. The default command, serve, runs
// the server; the other commands print something or work on the data of a stopped
// server.
//
// Start with commands, the table from which Tree makes what cobra runs, and with program, the
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
	"fmt"
	"io"
	"io/fs"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"reeve/auth"
	"reeve/auth/breached"
	"reeve/embed"
	"reeve/server/config"
	"reeve/store"
	"reeve/store/disk"
	"reeve/store/errs"
)

// Release is the version of the program, its licenses and where its packages put files, as main
// knows them.
type Release struct {
	Version string
	Config  string // path of the configuration of an installed service; "" for none
	Data    string // data directory of an installed service, unless its configuration names another
}

// program is one run of a command.
type program struct {
	Release
	command  string   // name of the command
	serves   bool     // whether it runs a server
	file     string   // value of --config: path of a file
	args     []string // arguments after the command, without flags
	flags    *pflag.FlagSet
	json     bool   // value of --json
	identity string // value of --identity: path of a file
	head     string // value of --head: head of the change log
	out, err io.Writer

	firstName, first, firstFile string // values of usernameVariable, passwordVariable and passwordFileVariable

	root      *cobra.Command
	progress  *progress
	config    *config.Config
	installed string // note that the data is that of the installed service; "" if it is not

	node node // this server as one of several; nil for the only one

	verified  atomic.Int64                  // bytes that the latest verification of a running server has read
	reloading sync.Mutex                    // held while reloaded is replaced
	reloaded  atomic.Pointer[config.Config] // see inForce; nil before the first reload
	breached  *breached.List                // leaked passwords, for serve; nil for none
	log       zerolog.Logger
}

// Run runs the command that args begin with, or serve if there is none. Only serve
// handles SIGINT and SIGTERM; they end any other command at once.
func Run(release Release, args []string, out, errOut io.Writer) error {
	root := Tree(release, out, errOut)
	root.InitDefaultCompletionCmd(args...)
	if completion, _, err := root.Find([]string{"completion"}); err == nil && completion != root { // else cobra prints the help for an unknown shell
		completion.Args, completion.RunE = unknown, showHelp
	}
	root.SetArgs(args)
	return root.Execute()
}

// runs returns the function with which cobra runs a command.
func (p *program) runs(c *command) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		p.command, p.serves, p.args, p.flags = c.name, c.serves, args, cmd.Flags()
		p.progress = p.newProgress()
		defer p.progress.end()
		p.firstName = cmp.Or(strings.TrimSpace(auth.TakeVariable(usernameVariable)), firstUser)
		p.first, p.firstFile = auth.TakeVariable(passwordVariable), auth.TakeVariable(passwordFileVariable)
		if !c.plain {
			if err := p.configure(keysOf(cmd.Flags())); err != nil {
				return err
			}
		}
		if !c.serves {
			// A supervisor sends it to the process that has the data directory, which can be
			// another command than serve.
			signal.Ignore(syscall.SIGHUP)
		}

		if p.installed != "" && isTerminal(p.err) {
			fmt.Fprintln(p.err, "reeve:", p.installed)
		}
		err := p.runCommand(c)
		if p.installed != "" && err != nil && !isTerminal(p.err) {
			fmt.Fprintln(p.err, "reeve:", p.installed)
		}
		if store.IsDamage(err) && c.name != "restore" &&
			!strings.Contains(err.Error(), p.config.DataDir) {
			err = fmt.Errorf("%s: %w", p.config.DataDir, err)
		}
		return errs.ForOperator(err)
	}
}

func (p *program) runCommand(c *command) (err error) {
	if c.call == nil {
		return c.run(p)
	}
	p.log = p.log.Level(zerolog.WarnLevel) // what a start logs is not about the command
	to, err := p.connect()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.close()) }()
	to.reason = p.text("reason")
	return p.nameFlags(c.call(p, to))
}

// fieldFlags are the flags from which fields of requests come.
var fieldFlags = map[string]string{
	"email":         "email",
	"expires_at":    "expires",
	"networks":      "network",
	"nickname":      "name",
	"overlap_hours": "overlap-hours",
	"password":      "password-file",
	"types":         "type",
}

// nameFlags names flags that were given in an error of the server, in place of the fields that they
// set.
func (p *program) nameFlags(err error) error {
	var fault *apiError
	if !errors.As(err, &fault) {
		return err
	}
	for field, text := range fault.Errors {
		name, rest := field, ""
		if i := strings.IndexAny(field, "[."); i > 0 {
			name, rest = field[:i], field[i:]
		}
		if flag := fieldFlags[name]; flag != "" && p.flags.Changed(flag) {
			delete(fault.Errors, field)
			fault.Errors["--"+flag+rest] = text
			fault.Msg = strings.Replace(fault.Msg, field+":", "--"+flag+rest+":", 1)
		}
	}
	return err
}

// text returns the value of a flag of the command.
func (p *program) text(name string) string {
	value, _ := p.flags.GetString(name) // an unknown flag is a fault that every test finds
	return value
}

// texts returns the values of a flag that can be repeated; nil for none.
func (p *program) texts(name string) []string {
	values, _ := p.flags.GetStringSlice(name)
	if len(values) == 0 {
		return nil
	}
	return values
}

// wayOut is the advice to the operator about damage that a command has found.
const wayOut = "restore a backup with `reeve restore FILE`, or copy the intact data with `reeve salvage NEWDIR`"

// exit is an error with an exit code of its own.
type exit struct {
	error
	code int
}

// foundCode is the exit code of a check that has found what it looks for, such as damaged data, an
// altered change log, a damaged backup or a difference.
const foundCode = 2

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

// configure loads the configuration and opens the log. set has the values of flags.
func (p *program) configure(set map[string]string) (err error) {
	if p.config, err = config.Load(p.file, set); err != nil {
		return err
	}
	if err := p.useInstalled(set); err != nil {
		return err
	}
	if p.log, err = newLog(p.err, p.config.LogLevel); err != nil {
		return err
	}
	p.warn(p.config.Warnings)
	return nil
}

// useInstalled takes the configuration of the installed service for a command that is given none and
// finds no data where it would be.
func (p *program) useInstalled(set map[string]string) error {
	if p.serves || p.Config == "" || p.config.File != "" || p.config.Given("data.dir") {
		return nil
	}
	// A working directory that may not be read, as that of another user, has no data for this one.
	if there, err := disk.Exists(p.config.DataDir); there || err != nil && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	if there, err := disk.Exists(p.Config); !there && err == nil {
		return nil
	}

	c, err := config.Load(p.Config, set)
	if err == nil && !c.Given("data.dir") {
		set["data.dir"] = p.Data
		c, err = config.Load(p.Config, set)
	}
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w; run the command with sudo, or name other data with --data", err)
	}
	if err != nil {
		return err
	}
	p.config = c
	p.installed = fmt.Sprintf("the working directory has no data: %s and %s are used", p.Config, c.DataDir)
	return nil
}

func (p *program) warn(warnings []string) {
	for _, w := range warnings {
		p.log.Warn().Msg(w)
	}
}

func (p *program) printVersion() error {
	nodes := ""
	if openNode != nil {
		nodes = ", with the client of etcd for several nodes"
	}
	_, err := fmt.Fprintf(p.out, "reeve %s %s %s/%s%s\n", p.build(), runtime.Version(), runtime.GOOS,
		runtime.GOARCH, nodes)
	return err
}

// build returns the version and, if it is known, the commit.
func (p *program) build() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return p.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return p.Version + "+" + s.Value[:12]
		}
	}
	return p.Version
}

// printNotice prints NOTICE.
func (p *program) printNotice() error {
	text, err := embed.Notice()
	if err == nil {
		_, err = io.WriteString(p.out, text)
	}
	return err
}

// example prints config.example.toml.
func (p *program) example() error {
	_, err := io.WriteString(p.out, config.Example())
	return err
}
