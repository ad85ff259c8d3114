package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"

	"reeve/auth"
	"reeve/server"
	"reeve/server/config"
	"reeve/server/setup"
	"reeve/store/disk"
)

// devServer is a throw-away server, as reeve dev prints it for programs.
type devServer struct {
	URL      string            `json:"url"`
	Data     string            `json:"data"` // data directory, for other commands
	Username string            `json:"username"`
	Password string            `json:"password"`
	Token    string            `json:"token"`    // token of a session of this user, the owner
	Keys     map[string]string `json:"keys"`     // API keys of the setup files, by name
	Webhooks map[string]string `json:"webhooks"` // secrets of their webhooks, by description
}

func devFlags(f *pflag.FlagSet, _ *program) {
	f.String("listen", "127.0.0.1:0", "listen on this `ADDRESS`; port 0 for a free one")
	f.Bool("stdin", false, "stop when the standard input ends, as it does when the program ends that has started this one")
}

// dev runs a server with setup files and without a configuration, whose data is removed in the end.
// It prints where it is and the secrets that it has made.
func (p *program) dev() (err error) {
	files, err := readSetup(p.args)
	if err != nil {
		return err
	}
	out := devServer{Username: firstUser, Password: auth.RandomPassword()}
	out.makeSecrets(files)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if out.Data, err = makeDevDir(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(out.Data)) }()
	if err := p.configureDev(&out); err != nil {
		return err
	}

	settings, err := p.settings(nil)
	if err != nil {
		return err
	}
	settings.Root = false // what a throw-away server has needs no protection
	p.warn(server.Warnings(&settings, out.Data))
	s, err := p.newServer(settings)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.DB.Close()) }()
	c := p.clientOf(s)
	if err := errors.Join(p.setUpDev(c, files, &out), c.close()); err != nil {
		return err
	}

	ended, err := p.listenForCommands(s)
	if err != nil {
		return err
	}
	defer ended()
	if stdin, _ := p.flags.GetBool("stdin"); stdin {
		go func() {
			io.Copy(io.Discard, os.Stdin) // an error ends it, too
			stop()
		}()
	}
	return s.Run(ctx, func(addr net.Addr) {
		out.URL = "http://" + addr.String()
		if err := p.printDev(&out); err != nil {
			p.log.Error().Err(err).Msg("the address could not be printed")
			stop()
		}
	})
}

// makeDevDir makes a directory for the data of a throw-away server: in memory on Linux, where a commit waits for no
// disk, unless TMPDIR is set or there is little room.
func makeDevDir() (string, error) {
	const memory, room, pattern = "/dev/shm", 1 << 30, "reeve-dev-"
	if free, err := disk.FreeSpace(memory); err == nil && free >= room && runtime.GOOS == "linux" && os.Getenv("TMPDIR") == "" {
		if dir, err := os.MkdirTemp(memory, pattern); err == nil {
			return dir, nil
		}
	}
	return os.MkdirTemp("", pattern)
}

// configureDev sets the default configuration, with which webhooks reach programs on this machine.
// Passwords are hashed as fast as possible.
func (p *program) configureDev(out *devServer) (err error) {
	p.config, err = config.Default(map[string]string{
		"data.dir":            out.Data,
		"server.listen":       p.text("listen"),
		"server.stop_timeout": devStop.String(),
		"webhooks.allow":      "127.0.0.0/8,::1",
		"log.level":           "warn",
	})
	if err != nil {
		return err
	}
	p.config.BcryptCost = devCost
	p.firstName, p.first, p.firstFile = out.Username, out.Password, ""
	p.log, err = newLog(p.err, p.config.LogLevel)
	return err
}

const (
	devStop = time.Second // time for requests in flight when the server stops
	devCost = 4           // bcrypt cost of a password hash, the lowest
)

// devSettings let the owner's session stay valid while a developer works with it.
var devSettings = map[string]any{
	"security.session_hours":        30 * 24,
	"security.session_idle_minutes": 7 * 24 * 60,
	"security.reauth_minutes":       24 * 60,
}

// makeSecrets gives the API keys and webhooks in files a new secret each, instead of those in their
// files.
func (d *devServer) makeSecrets(files []*setupFile) {
	d.Keys, d.Webhooks = map[string]string{}, map[string]string{}
	made := map[string]map[string]string{"keys": d.Keys, "webhooks": d.Webhooks}
	for _, f := range files {
		f.text.EachSecret(func(of setup.SecretTable, key string, row map[string]any) error { // never fails
			made[of.Name][key] = of.New()
			row["secret"] = map[string]any{"secret": made[of.Name][key]}
			row["secret_file"] = key
			return nil
		})
	}
}

// setUpDev applies the files, and signs the owner in.
func (p *program) setUpDev(c *client, files []*setupFile, out *devServer) error {
	defer zerolog.SetGlobalLevel(zerolog.GlobalLevel())
	zerolog.SetGlobalLevel(zerolog.ErrorLevel) // these changes are no news
	if err := c.call("PUT", "/system/setting", nil, map[string]any{"values": devSettings}, nil); err != nil {
		return err
	}
	if len(files) > 0 {
		if _, err := p.askSetup(c, "apply", files); err != nil {
			return err
		}
	}
	in := map[string]string{"username": out.Username, "password": out.Password}
	return c.call("POST", "/admin/login", nil, in, out)
}

// printDev prints a server: one line of JSON with --json.
func (p *program) printDev(d *devServer) error {
	if p.json {
		return json.NewEncoder(p.out).Encode(d)
	}
	w := bufio.NewWriter(p.out)
	fmt.Fprintf(w, "%s\n\nconsole:      %[1]s/console/ as %s with the password %s\nowner token:  %s\n",
		d.URL, d.Username, d.Password, d.Token)
	for _, list := range []struct {
		what    string
		secrets map[string]string
	}{{"API key", d.Keys}, {"webhook", d.Webhooks}} {
		for _, name := range slices.Sorted(maps.Keys(list.secrets)) {
			fmt.Fprintf(w, "%s %s: %s\n", list.what, oneLine(name), list.secrets[name])
		}
	}
	fmt.Fprintf(w, "data:         %s, removed when this command ends\n", d.Data)
	return w.Flush()
}
