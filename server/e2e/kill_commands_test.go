package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"reeve/store/disk/disktest"
)

// Processes that a test kills while a command runs.
const (
	killServer  = "the server"
	killCommand = "the command beside a server"
	killAlone   = "the command without a server"
)

// killing kills commands, or the servers that serve them, at random times.
type killing struct {
	random *rand.Rand
	usual  map[string]time.Duration // time that the command takes undisturbed, by what is killed
	beside func(server *process)    // what a client does until the server ends; nil for nothing
}

func newKilling(t *testing.T) *killing {
	return &killing{random: random(t), usual: map[string]time.Duration{}}
}

// repeat calls once for kills of each process in turn, and before that without a kill. Without one,
// the command has ended, and the state is the last one seen.
func (k *killing) repeat(t *testing.T, kills int, once func(who string) (killed bool, state string)) {
	t.Helper()
	saw, ended := map[string]int{}, map[string]string{}
	whom := []string{killServer, killCommand, killAlone}
	for i := range len(whom) + kills {
		who := whom[i%len(whom)]
		killed, state := once(who)
		switch {
		case killed:
			saw[state]++
		case ended[who] != "" && state != ended[who]:
			t.Errorf("a command that has ended leaves the state %q, and %q before", state, ended[who])
		default:
			ended[who] = state
		}
		if t.Failed() {
			t.Fatalf("kill %d, of %s", i-len(whom), who)
		}
	}
	t.Logf("%d kills: %v", kills, saw)
}

// run runs a command on a data directory, and kills who after a random part of its usual time. The
// first time for each who, it is not killed, and must end with code. No process is left afterwards.
// killed is false if the command has ended before.
func (k *killing) run(t *testing.T, who, dir string, code int, words ...string) (killed bool) {
	t.Helper()
	var server *process
	if who != killAlone {
		server = start(t, dir)
		if k.beside != nil {
			var client sync.WaitGroup
			client.Go(func() { k.beside(server) })
			defer client.Wait()
		}
	}

	began := time.Now()
	command := begin(t, program(t, append(words, "--data", dir)...))
	if usual, known := k.usual[who]; !known {
		command.wait()
		k.usual[who] = time.Since(began)
		if got := command.cmd.ProcessState.ExitCode(); got != code {
			if server != nil {
				server.kill() // ends the client
			}
			t.Fatalf("undisturbed, it ends with %d: %s", got, &command.log)
		}
	} else {
		select {
		case <-command.done:
		case <-time.After(time.Duration(k.random.Int64N(int64(usual)))): // any time
			killed = true
		}
	}

	if who == killServer {
		server.kill()
		command.wait()
		return killed
	}
	command.kill()
	if server != nil {
		server.stop() // requests in flight are completed
	}
	return killed
}

// shopFile writes a setup file with n objects, one of them an API key, and returns its path.
func shopFile(t *testing.T, n int) string {
	t.Helper()
	var text strings.Builder
	text.WriteString("keys.deploy = { roles = [\"Role 1\"], secret_file = \"deploy.secret\" }\n")
	text.WriteString("setting_groups.shop = \"Shop\"\n[settings]\n")
	settings := (n - 2) / 2
	for i := range settings {
		fmt.Fprintf(&text, "\"shop.s%d\" = { title = \"S\", type = \"number\", value = %d }\n", i, i)
	}
	text.WriteString("[roles]\n")
	for i := range n - 2 - settings {
		fmt.Fprintf(&text, "\"Role %d\" = { permissions = [\"system.setting.query\"], sort = %d }\n", i, i)
	}
	path := filepath.Join(t.TempDir(), "shop.toml")
	noErr(t, os.WriteFile(path, []byte(text.String()), 0o600))
	return path
}

// A setup that is killed while it is applied has been applied or not, and can be applied again: with
// one key, whose secret is in its file.
func TestKill_DuringApply(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ objects, kills int }{
		"one transaction": {31, size(3, 8, 100)},
		"job":             {301, size(3, 5, 100)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := t.TempDir()
			p := start(t, base)
			token := signedIn(t, p).token
			p.stop()
			k := newKilling(t)
			k.repeat(t, test.kills, func(who string) (killed bool, state string) {
				dir, file := copyDir(t, base), shopFile(t, test.objects)
				killed = k.run(t, who, dir, 0, "apply", file)
				if k.random.IntN(3) == 0 { // at once, by a command that finds the job if there is one
					applied(t, dir, file)
				}
				p := start(t, dir)
				c := newClient(t, p)
				c.token = token
				state, left := c.settled(dir, file)
				switch left {
				case 0:
					state += "new"
				case test.objects:
					state += "old"
				default:
					t.Errorf("%d of %d objects are left to be changed", left, test.objects)
				}

				applied(t, dir, file)
				applied(t, dir, file) // the second time there is nothing to do
				keyWorks(t, c, filepath.Join(filepath.Dir(file), "deploy.secret"))
				p.stop()
				sound(t, dir)
				return killed, state
			})
		})
	}
}

// A setup whose last step is refused, since two keys have one secret, is taken back, even if that is
// interrupted by a kill.
func TestKill_DuringRefusedApply(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	p := start(t, base)
	c := signedIn(t, p)
	token := c.token
	role := c.roleWith("Clerk", "admin", "admin.list", "admin.list.query")
	key := into[struct {
		ID     int64
		Secret string `json:"token"`
	}](t, c.want(200, "POST", "/admin/key", object("name", "spent", "role_ids", []int64{role})))
	c.want(200, "DELETE", fmt.Sprint("/admin/key/", key.ID), "")
	p.stop()

	const objects = 301
	k := newKilling(t)
	k.repeat(t, size(3, 9, 100), func(who string) (killed bool, state string) {
		dir, file := copyDir(t, base), shopFile(t, objects)
		at := filepath.Dir(file)
		for _, name := range []string{"deploy.secret", "twin.secret"} {
			noErr(t, os.WriteFile(filepath.Join(at, name), []byte(key.Secret+"\n"), 0o600))
		}
		good, err := os.ReadFile(file)
		noErr(t, err)
		refused := filepath.Join(at, "twins.toml")
		noErr(t, os.WriteFile(refused, []byte("keys.twin = { roles = [\"Role 1\"], secret_file = \"twin.secret\" }\n"+string(good)), 0o600))
		killed = k.run(t, who, dir, 1, "apply", refused)
		p := start(t, dir)
		c := newClient(t, p)
		c.token = token
		state, left := c.settled(dir, file)
		if left != objects {
			t.Errorf("%d of %d objects are left to be changed", left, objects)
		}
		applied(t, dir, file)
		keyWorks(t, c, filepath.Join(at, "deploy.secret"))
		p.stop()
		sound(t, dir)
		return killed, state + "old"
	})
}

// A compaction that is killed loses no record and no byte of a file, whatever is uploaded at the same
// time.
func TestKill_DuringCompact(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	p := start(t, base)
	c := signedIn(t, p)
	group := c.group("bulk")
	for i := range 20 {
		id := c.define(group, fmt.Sprint("bulk", i), "textarea", strings.Repeat("text ", 10_000))
		if i%2 == 0 {
			c.want(200, "DELETE", fmt.Sprint("/system/setting/", id), "")
		}
	}
	files := map[int64]fileRecord{}
	for i := range 6 {
		f := c.put(fmt.Sprint("file", i), payload{uint64(i), 500_000})
		if files[f.ID] = f; i%2 == 0 {
			c.discard(f.ID)
			delete(files, f.ID)
		}
	}
	settings := c.settings(group)
	token := c.token
	p.stop()
	there := names(t, base)

	k := newKilling(t)
	k.repeat(t, size(3, 9, 100), func(who string) (killed bool, state string) {
		dir, known := copyDir(t, base), maps.Clone(files)
		k.beside = func(server *process) {
			c := newClient(t, server)
			c.token = token
			for i := range uint64(100_000) {
				content := payload{100 + i, 20_000}
				a, err := c.send(fmt.Sprint("new", i), content.size, content.reader())
				if err != nil || a.status != 200 {
					return // the server has ended
				}
				f := records(t, a)[0]
				known[f.ID] = f
			}
		}

		killed = k.run(t, who, dir, 0, "compact")
		sound(t, dir)
		p := start(t, dir)
		c.base = p.url
		disktest.Equal(t, "settings", c.settings(group), settings)
		if who != killAlone && len(known) == len(files) {
			state = "nothing was uploaded, "
		}
		for _, f := range known {
			c.mustHold(f)
		}
		p.stop()
		if got := names(t, dir); !slices.Equal(got, there) {
			t.Errorf("there is %v, want %v", got, there)
		}
		return killed, state + "intact"
	})
}

// settled waits until the server has no unfinished job, and returns "job, " if it had one, and how
// many objects a setup file would change.
func (c *client) settled(dir, file string) (state string, left int) {
	c.t.Helper()
	unfinished := func() int {
		list := into[struct{ Total int }](c.t, c.want(200, "GET", "/system/job?filter="+
			url.QueryEscape(`{"state":["preparing","running","undoing"]}`), ""))
		return list.Total
	}
	if unfinished() > 0 {
		state = "job, "
	}
	eventually(c.t, "no job is unfinished", func() bool { return unfinished() == 0 })
	return state, changesIn(c.t, dir, file)
}

// changesIn returns how many objects a setup file would change.
func changesIn(t testing.TB, dir, file string) int {
	t.Helper()
	r := run(t, "plan", file, "--json", "--data", dir)
	var plan struct{ Changes []json.RawMessage }
	if err := json.Unmarshal([]byte(r.out), &plan); err != nil {
		t.Fatalf("%v in %+v", err, r)
	}
	return len(plan.Changes)
}

// applied applies a setup file, and checks that nothing is left to be changed.
func applied(t testing.TB, dir, file string) {
	t.Helper()
	if r := run(t, "apply", file, "--data", dir); r.code != 0 {
		t.Errorf("apply: %+v", r)
	}
	if left := changesIn(t, dir, file); left != 0 {
		t.Errorf("%d objects are left to be changed", left)
	}
}

// keyWorks checks that there is one API key, and that its secret is in a file of the command's user.
func keyWorks(t *testing.T, c *client, path string) {
	t.Helper()
	keys := into[struct{ Total int }](t, c.want(200, "GET", "/admin/key", ""))
	if keys.Total != 1 {
		t.Errorf("there are %d keys", keys.Total)
	}
	info, err := os.Stat(path)
	noErr(t, err)
	secret, err := os.ReadFile(path)
	noErr(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the file of the secret has the mode %v", info.Mode())
	}
	token := c.token
	c.token = strings.TrimSpace(string(secret))
	c.want(200, "GET", "/system/setting", "")
	c.token = token
}
