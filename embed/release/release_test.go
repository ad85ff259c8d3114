package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/rand"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"aead.dev/minisign"
)

const (
	patience    = 2 * time.Minute
	serviceUser = 64999 // as reeve
)

// limits are the most bytes of a program and of a download.
var limits = map[edition]struct{ program, packed int64 }{
	oneNode:      {34 << 20, 13 << 20},
	severalNodes: {40 << 20, 14 << 20},
}

// archs are the systems that the tests build an edition for. What differs between systems is the same in both.
var archs = map[edition][]string{oneNode: {"amd64", "arm64"}, severalNodes: {"amd64"}}

// packed are the endings of the archives.
var packed = map[edition]string{oneNode: ".tar.gz", severalNodes: ".tar.xz"}

// systems are archs, as release builds them.
const systems = "linux/amd64,linux/arm64,cluster/linux/amd64"

// built builds the release for some systems once, from this checkout as it is.
var built = sync.OnceValues(func() (string, error) {
	out, err := os.MkdirTemp("", "reeve-release-test-")
	if err == nil {
		err = run(out, systems, true)
	}
	return out, err
})

func TestMain(m *testing.M) {
	code := m.Run()
	if out, _ := built(); out != "" {
		os.RemoveAll(out)
	}
	os.Exit(code)
}

// result returns the path of the only file of an edition whose name has an ending.
func result(t *testing.T, e edition, ending string) string {
	t.Helper()
	out, err := built()
	if err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(out, e.name+"_*"+ending))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %v, %v", ending, found, err)
	}
	return found[0]
}

// needsRoot skips a test that only root on Linux can run.
func needsRoot(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "linux" && runtime.GOARCH == "amd64" && os.Geteuid() == 0 {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("this test needs root on linux/amd64")
	}
	t.Skip("this test needs root on linux/amd64")
}

// command skips a test that needs a program which is not there.
func command(t *testing.T, name string, words ...string) *exec.Cmd {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	return exec.Command(name, words...)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestRelease_Repeatable builds another checkout of the same sources in another directory, and compares
// all files of the release.
func TestRelease_Repeatable(t *testing.T) {
	changes, err := exec.Command("git", "-C", "../..", "status", "--porcelain").Output()
	must(t, err)
	if len(changes) > 0 {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the checkout has changes:\n%s", changes)
		}
		t.Skip("the checkout has changes")
	}

	root := filepath.Join(t.TempDir(), "another", "place")
	if out, err := command(t, "git", "clone", "--quiet", "../..", root).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	again := t.TempDir()
	cmd := exec.Command("go", "run", ".", "--dirty", "--only", systems, "--out", again)
	cmd.Dir = filepath.Join(root, "embed", "release")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}

	out, err := built()
	must(t, err)
	first, second := filesIn(t, out), filesIn(t, again)
	for _, ending := range []string{"linux_amd64.tar.gz", "amd64.deb", "oci.tar", ".cdx.json", "SHA256SUMS"} {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(first)), func(name string) bool { return strings.HasSuffix(name, ending) }) {
			t.Errorf("there is no %s among %q", ending, slices.Sorted(maps.Keys(first)))
		}
	}
	for name := range first {
		if !bytes.Equal(first[name], second[name]) {
			t.Errorf("two builds of %s differ", name)
		}
	}
	if len(first) != len(second) {
		t.Errorf("the builds have %d and %d files", len(first), len(second))
	}
}

// filesIn returns the files in a directory, by name.
func filesIn(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	all := map[string][]byte{}
	for _, e := range entries {
		all[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name()))
		must(t, err)
	}
	return all
}

func TestProgram_StaticAndSmall(t *testing.T) {
	for _, e := range editions {
		for _, arch := range archs[e] {
			checkProgram(t, e, arch)
		}
	}
}

func checkProgram(t *testing.T, e edition, arch string) {
	t.Helper()
	path := result(t, e, "linux_"+arch+packed[e])
	info, err := os.Stat(path)
	must(t, err)
	program := unpacked(t, path)
	size, err := os.Stat(program)
	must(t, err)
	most := limits[e]
	t.Logf("%s %s: %d bytes, %d packed", e.name, arch, size.Size(), info.Size())
	if size.Size() > most.program || info.Size() > most.packed {
		t.Errorf("%s %s has %d bytes, packed %d: more than %d or %d. Each type that is sorted with slices.SortFunc costs 16 KB; sort.Slice is compiled once", e.name, arch, size.Size(),
			info.Size(), most.program, most.packed)
	}

	build, err := buildinfo.ReadFile(program)
	must(t, err)
	for _, s := range build.Settings {
		if s.Key == "CGO_ENABLED" && s.Value != "0" ||
			s.Key == "-trimpath" && s.Value != "true" {
			t.Errorf("%s %s is built with %s=%s", e.name, arch, s.Key, s.Value)
		}
	}
}

// unpacked unpacks the program of an archive and returns its path.
func unpacked(t *testing.T, archive string) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := command(t, "tar", "-xf", archive, "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	found, err := filepath.Glob(dir + "/reeve*-*/reeve")
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}

	for _, name := range []string{"LICENSE", "NOTICE", "config.example.toml", "man/reeve.1",
		"man/reeve-restore.1", "completions/reeve.bash", "compose.yaml", "reeve.service"} {
		if info, err := os.Stat(filepath.Join(filepath.Dir(found[0]), name)); err != nil ||
			info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}

	return found[0]
}

// extract unpacks a tar file with owners and modes.
func extract(t *testing.T, dir string, from io.Reader) {
	t.Helper()
	for r := tar.NewReader(from); ; {
		head, err := r.Next()
		if err == io.EOF {
			return
		}

		must(t, err)
		path := filepath.Join(dir, head.Name)
		if head.Typeflag == tar.TypeDir {
			must(t, os.MkdirAll(path, 0o755))
		} else {
			must(t, os.MkdirAll(filepath.Dir(path), 0o755))
			content, err := io.ReadAll(r)
			must(t, err)
			must(t, os.WriteFile(path, content, 0o644))
		}

		must(t, os.Chmod(path, head.FileInfo().Mode()))
		if os.Geteuid() == 0 {
			must(t, os.Chown(path, head.Uid, head.Gid))
		}
	}
}

// box is a program that runs with a directory as its root.
type box struct {
	t    *testing.T
	root string
	user int
	env  []string
	log  bytes.Buffer // may be read after the program has ended
	cmd  *exec.Cmd
	done chan error // gets the result of the program
}

func (b *box) command(words ...string) *exec.Cmd {
	return &exec.Cmd{
		Path: words[0],
		Args: words,
		Dir:  "/",
		Env:  b.env,
		SysProcAttr: &syscall.SysProcAttr{
			Chroot:     b.root,
			Credential: &syscall.Credential{Uid: uint32(b.user), Gid: uint32(b.user)},
			Cloneflags: syscall.CLONE_NEWPID, // the program is PID 1
		},
	}
}

func (b *box) start(words ...string) {
	b.t.Helper()
	b.cmd = b.command(words...)
	b.cmd.Stdout, b.cmd.Stderr = &b.log, &b.log
	must(b.t, b.cmd.Start())
	b.done = make(chan error, 1)
	go func() { b.done <- b.cmd.Wait() }()
	b.t.Cleanup(func() { b.cmd.Process.Kill() })
}

// stop ends the program and checks that it ended in order.
func (b *box) stop() {
	b.t.Helper()
	must(b.t, b.cmd.Process.Signal(syscall.SIGTERM))
	if err := <-b.done; err != nil || !strings.Contains(b.log.String(), `"message":"stopped"`) {
		b.t.Errorf("it ended with %v:\n%s", err, &b.log)
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	return l.Addr().String()
}

// ready waits until a server answers that it is ready.
func (b *box) ready(address string) {
	t := b.t
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		resp, err := http.Get("http://" + address + "/health/ready")
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return
			}
		}

		select {
		case err := <-b.done:
			t.Fatalf("it has ended: %v\n%s", err, &b.log)
		default:
		}

		if time.Now().After(end) {
			t.Fatalf("no server is ready: %v", err)
		}
	}
}

// unit returns the value of a key of the service's unit.
func unit(t *testing.T, root, key string) string {
	t.Helper()
	text, err := os.ReadFile(root + "/usr/lib/systemd/system/reeve.service")
	must(t, err)
	found := regexp.MustCompile(`(?m)^` + key + `=(.*)$`).FindSubmatch(text)
	if found == nil {
		t.Fatalf("the unit has no %s", key)
	}
	return string(found[1])
}

// TestDeb_RunsAsService unpacks the package and starts its service as systemd would: with the
// command and directories of the unit, as a user of its own, and with a socket for its reports: with the
// data of an older version, and without data, where the first sign-in is as the manual says.
func TestDeb_RunsAsService(t *testing.T) {
	needsRoot(t)
	root := t.TempDir()
	must(t, os.Chmod(root, 0o755))
	if out, err := command(t, "dpkg-deb", "-x", result(t, oneNode, "amd64.deb"), root).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}

	data := filepath.Join(root, "var/lib/reeve")
	must(t, os.MkdirAll(filepath.Dir(data), 0o755))
	must(t, os.Mkdir(data, 0o700))
	oldData(t, data)
	must(t, filepath.WalkDir(data, func(path string, _ os.DirEntry, err error) error {
		if err == nil {
			err = os.Chown(path, serviceUser, serviceUser)
		}
		return err
	}))
	must(t, os.Chown(root+"/etc/reeve/config.toml", 0, serviceUser))
	must(t, os.MkdirAll(root+"/tmp", 0o777))
	must(t, os.MkdirAll(root+"/run", 0o777))
	must(t, os.Chmod(root+"/run", 0o777))
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{
		Name: root + "/run/notify",
		Net:  "unixgram",
	})
	must(t, err)
	defer conn.Close()
	must(t, os.Chmod(root+"/run/notify", 0o777))
	if kind := unit(t, root, "Type"); kind != "notify" {
		t.Errorf("the type of the unit is %s", kind)
	}

	address := freeAddress(t)
	b := &box{
		t:    t,
		root: root,
		user: serviceUser,
		env:  []string{"NOTIFY_SOCKET=/run/notify", "REEVE_SERVER__LISTEN=" + address},
	}
	b.start(strings.Fields(unit(t, root, "ExecStart"))...)
	must(t, conn.SetReadDeadline(time.Now().Add(patience)))
	b.ready(address)
	for said, buffer := "", make([]byte, 4096); !strings.HasPrefix(said, "READY=1"); {
		n, err := conn.Read(buffer)
		must(t, err)
		said = string(buffer[:n])
	}

	for words, says := range map[string]string{
		"health":          "",
		"status":          "data: +/var/lib/reeve\n",
		"user list":       "ada",
		"reload":          "changed: nothing",
		"--data / status": "there is no database in /",
	} { // as the manual has them: without naming configuration and data
		out, err := b.command(append([]string{"/usr/bin/reeve"}, strings.Fields(words)...)...).CombinedOutput()
		if fails := strings.HasPrefix(says, "there is no"); !regexp.MustCompile(says).Match(out) || (err != nil) != fails {
			t.Errorf("reeve %s: %v\n%s", words, err, out)
		}
	}

	b.stop()
	if strings.Contains(b.log.String(), "/etc/reeve") {
		t.Errorf("it warns about the configuration of the package:\n%s", &b.log)
	}
	if _, err := os.Stat(data + "/data.db.schema-19"); err != nil {
		t.Errorf("the older data was not migrated: %v", err)
	}

	must(t, os.RemoveAll(data)) // as after the first installation
	must(t, os.Mkdir(data, 0o700))
	must(t, os.Chown(data, serviceUser, serviceUser))
	b = &box{t: t, root: root, user: serviceUser, env: b.env}
	b.start(strings.Fields(unit(t, root, "ExecStart"))...)
	b.ready(address)
	signInFirst(t, "http://"+address, data)
	asRoot := &box{t: t, root: root}
	for line := range strings.Lines(manualBlock(t, "TestDeb_RunsAsService")) {
		words, sudo := strings.CutPrefix(strings.TrimSpace(line), "sudo reeve ")
		out, err := asRoot.command(append([]string{"/usr/bin/reeve"}, strings.Fields(words)...)...).CombinedOutput()
		if says := map[string]string{"status": "/var/lib/reeve", "verify": "no faults"}[words]; !sudo || says == "" || err != nil || !bytes.Contains(out, []byte(says)) {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
	}
	b.stop()
}

// signInFirst signs in with the generated password in a data directory, and changes it, as the manual says.
func signInFirst(t *testing.T, url, data string) {
	t.Helper()
	file := filepath.Join(data, "initial-password")
	text, err := os.ReadFile(file)
	must(t, err)
	generated := regexp.MustCompile(`(?m)^password: (.+)$`).FindSubmatch(text)
	if generated == nil {
		t.Fatalf("%s has no password", file)
	}
	token, chosen := "", "choose a better one"
	send := func(method, path string, body map[string]string) {
		t.Helper()
		text, err := json.Marshal(body)
		must(t, err)
		r, err := http.NewRequest(method, url+path, bytes.NewReader(text))
		must(t, err)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+token)
		if token == "" {
			r.Header.Del("Authorization")
		}
		resp, err := http.DefaultClient.Do(r)
		must(t, err)
		defer resp.Body.Close()
		var answer struct {
			Data struct{ Token string }
			Msg  string
		}
		if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s %s: %d %s %v", method, path, resp.StatusCode, answer.Msg, err)
		}
		token = cmp.Or(token, answer.Data.Token)
	}
	first := string(generated[1])
	send("POST", "/admin/login", map[string]string{"username": "admin", "password": first})
	send("PUT", "/admin/password", map[string]string{"old_password": first, "new_password": chosen})
	token = ""
	send("POST", "/admin/login", map[string]string{"username": "admin", "password": chosen})
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", file, err)
	}
}

// oldData unpacks the data directory of an older version.
func oldData(t *testing.T, dir string) {
	t.Helper()
	f, err := os.Open("../../store/testdata/schema-19.tar.gz")
	must(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	must(t, err)
	extract(t, dir, z)
}

func TestUnit_Hardened(t *testing.T) {
	root := t.TempDir()
	if out, err := command(t, "dpkg-deb", "-x", result(t, oneNode, "amd64.deb"), root).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := command(t, "systemd-analyze", "security", "--offline=true", "--threshold=20",
		"--root="+root, "reeve.service").CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Log(lines[len(lines)-1])
}

// TestUnit_Valid checks the units of both packages: systemd knows their keys and values, and the programs
// that they start are in the package.
func TestUnit_Valid(t *testing.T) {
	for _, e := range editions {
		root := t.TempDir()
		if out, err := command(t, "dpkg-deb", "-x", result(t, e, "amd64.deb"), root).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		verify := func(name string) (string, error) {
			out, err := command(t, "systemd-analyze", "verify", "--man=no", "--recursive-errors=no", "--root="+root, name).CombinedOutput()
			return string(out), err
		}
		for _, name := range []string{"reeve.service", "reeve.socket"} {
			if out, err := verify(name); err != nil || out != "" {
				t.Errorf("%s of %s: %v\n%s", name, e.name, err, out)
			}
		}

		path := filepath.Join(root, "usr/lib/systemd/system/reeve.service")
		text, err := os.ReadFile(path)
		must(t, err)
		for _, damaged := range []string{"ProtectSistem=strict", "ExecStart=/usr/bin/other"} {
			must(t, os.WriteFile(path, bytes.Replace(text, []byte("[Service]\n"), []byte("[Service]\n"+damaged+"\n"), 1), 0o644))
			if out, err := verify("reeve.service"); err == nil && out == "" {
				t.Errorf("%s is not noticed", damaged)
			}
		}
	}
}

// checkDocker checks manifest.json, from which `docker load` takes the images without the store of
// containerd, with the configuration and the layer for amd64.
func checkDocker(t *testing.T, e edition, dir, config, layer string) {
	t.Helper()
	var images []dockerImage
	must(t, readJSON(filepath.Join(dir, "manifest.json"), &images))
	tags := map[string]dockerImage{}
	for _, image := range images {
		for _, path := range append(image.Layers, image.Config) {
			_, err := os.Stat(filepath.Join(dir, path))
			must(t, err)
		}
		tags[strings.TrimPrefix(strings.Join(image.RepoTags, " "), e.name+":")] = image
	}
	path := func(digest string) string { return "blobs/" + strings.Replace(digest, ":", "/", 1) }
	for tag, image := range tags {
		if arm := strings.HasSuffix(tag, "-arm64"); len(image.Layers) != 1 ||
			!arm && (image.Config != path(config) || image.Layers[0] != path(layer)) {
			t.Errorf("%s: %+v", tag, image)
		}
	}
	if len(tags) != len(archs[e]) || slices.ContainsFunc(slices.Collect(maps.Keys(tags)), func(tag string) bool { return strings.Contains(tag, ":") }) {
		t.Errorf("there are the tags %v", tags)
	}
}

// TestImage_RunsAsItsUser unpacks the image and runs it as a container runtime would: its command
// as PID 1, as its user, with its environment.
func TestImage_RunsAsItsUser(t *testing.T) {
	needsRoot(t)
	for _, e := range editions {
		t.Run(e.name, func(t *testing.T) { checkImage(t, e) })
	}
}

func checkImage(t *testing.T, e edition) {
	blobs := t.TempDir()
	f, err := os.Open(result(t, e, "oci.tar"))
	must(t, err)
	defer f.Close()
	extract(t, blobs, f)
	type descriptor struct {
		Digest   string
		Platform struct{ Architecture, OS string }
	}
	read := func(digest string, into any) {
		t.Helper()
		must(t, readJSON(filepath.Join(blobs, "blobs", strings.Replace(digest, ":", "/", 1)), into))
	}

	var outer, index struct{ Manifests []descriptor }
	must(t, readJSON(filepath.Join(blobs, "index.json"), &outer))
	read(outer.Manifests[0].Digest, &index)
	platforms := map[string]string{}
	for _, m := range index.Manifests {
		platforms[m.Platform.OS+"/"+m.Platform.Architecture] = m.Digest
	}

	if len(platforms) != len(archs[e]) || platforms["linux/"+archs[e][len(archs[e])-1]] == "" {
		t.Errorf("the image is for %v", platforms)
	}

	var manifest struct {
		Config descriptor
		Layers []descriptor
	}
	read(platforms["linux/amd64"], &manifest)
	checkDocker(t, e, blobs, manifest.Config.Digest, manifest.Layers[0].Digest)
	var config struct {
		Config struct {
			User            string
			Entrypoint, Cmd []string
			Env             []string
			Volumes         map[string]any
			Healthcheck     struct{ Test []string }
		}
	}
	read(manifest.Config.Digest, &config)
	root := t.TempDir()
	must(t, os.Chmod(root, 0o755))
	for _, l := range manifest.Layers {
		layer, err := os.Open(filepath.Join(blobs, "blobs", strings.Replace(l.Digest, ":", "/", 1)))
		must(t, err)
		z, err := gzip.NewReader(layer)
		must(t, err)
		extract(t, root, z)
		must(t, layer.Close())
	}

	c := config.Config
	if _, ok := c.Volumes["/data"]; !ok || c.User != fmt.Sprintf("%d:%[1]d", imageUser) {
		t.Errorf("user %s, volumes %v", c.User, c.Volumes)
	}

	address := freeAddress(t)
	b := &box{t: t, root: root, user: imageUser,
		env: append(c.Env, "REEVE_SERVER__LISTEN="+address)}
	b.start(append(c.Entrypoint, c.Cmd...)...)
	b.ready(address)
	signInFirst(t, "http://"+address, root+"/data")
	if c.Healthcheck.Test[0] != "CMD" {
		t.Fatalf("health check: %v", c.Healthcheck)
	}
	if out, err := b.command(c.Healthcheck.Test[1:]...).CombinedOutput(); err != nil {
		t.Errorf("health check: %v\n%s", err, out)
	}

	b.stop()
	if _, err := os.Stat(root + "/data/data.db"); err != nil {
		t.Error(err)
	}
	if roots, err := os.ReadFile(root + "/etc/ssl/certs/ca-certificates.crt"); err != nil ||
		strings.Count(string(roots), "BEGIN CERTIFICATE") < 50 {
		t.Errorf("the certificates of authorities: %d bytes, %v", len(roots), err)
	}
}

// lockedPackages returns the names and versions of the npm packages in the console's build: those of the
// lock file, which must be those that are installed.
func lockedPackages(t *testing.T) map[string]bool {
	t.Helper()
	type npmPackage struct{ Name, Version string }
	var dirs []string
	must(t, readJSON("../console/packages.json", &dirs))
	var lock struct{ Packages map[string]npmPackage }
	must(t, readJSON("../console/package-lock.json", &lock))
	all := map[string]bool{}
	for _, dir := range dirs {
		locked, found := lock.Packages[dir]
		if locked.Name == "" { // unless it is installed by another name
			parts := strings.Split(dir, "node_modules/")
			locked.Name = parts[len(parts)-1]
		}
		if !found || locked.Version == "" {
			t.Fatalf("the lock file lacks %s", dir)
		}
		all[locked.Name+" "+locked.Version] = true
		if _, err := os.Stat("../console/node_modules"); err != nil {
			continue
		}
		var installed npmPackage
		must(t, readJSON("../console/"+dir+"/package.json", &installed))
		if installed != locked {
			t.Errorf("%s: %v is installed, and %v locked", dir, installed, locked)
		}
	}
	return all
}

// TestSBOM_Complete compares the lists with the contents of the programs and of the console's build: each
// Go module, and exactly the npm packages with the versions of the lock file.
func TestSBOM_Complete(t *testing.T) {
	npm := lockedPackages(t)
	for _, e := range editions {
		var bom struct {
			Components []struct{ PURL, Name, Version string }
		}
		must(t, readJSON(result(t, e, "sbom.cdx.json"), &bom))
		listed, ofNPM := map[string]bool{}, map[string]bool{}
		for _, c := range bom.Components {
			listed[c.PURL] = true
			if !strings.HasPrefix(c.PURL, "pkg:npm/") {
				continue
			}
			ofNPM[c.Name+" "+c.Version] = true
			if want := "pkg:npm/" + strings.Replace(c.Name, "@", "%40", 1) + "@" + c.Version; c.PURL != want {
				t.Errorf("%s: %s %s has the address %s, want %s", e.name, c.Name, c.Version, c.PURL, want)
			}
		}
		if !maps.Equal(ofNPM, npm) {
			t.Errorf("%s: the npm packages are\n%q, and the console has\n%q", e.name, slices.Sorted(maps.Keys(ofNPM)), slices.Sorted(maps.Keys(npm)))
		}

		info, err := buildinfo.ReadFile(unpacked(t, result(t, e, "linux_amd64"+packed[e])))
		must(t, err)
		etcd := false
		for _, m := range info.Deps {
			etcd = etcd || strings.HasPrefix(m.Path, "go.etcd.io/etcd/")
			if !listed["pkg:golang/"+m.Path+"@"+m.Version] {
				t.Errorf("%s: %s %s is missing", e.name, m.Path, m.Version)
			}
		}
		if etcd != (e == severalNodes) {
			t.Errorf("%s: it has the client of etcd: %t", e.name, etcd)
		}

		if want := len(info.Deps) + len(npm) + 1; len(listed) < want || len(info.Deps) == 0 ||
			len(npm) < 20 {
			t.Errorf("%s lists %d of at least %d", e.name, len(listed), want)
		}
	}
}

func TestSign_Verifies(t *testing.T) {
	public, secret, err := minisign.GenerateKey(rand.Reader)
	must(t, err)
	text, err := minisign.EncryptKey("secret", secret)
	must(t, err)
	t.Setenv(keyVariable, string(text))
	t.Setenv(passwordVariable, "secret")
	r := &release{out: t.TempDir(), version: "1.2.3", commit: "abc"}
	must(t, r.sign("SHA256SUMS", []byte("sums")))
	signature, err := os.ReadFile(r.out + "/SHA256SUMS.minisig")
	must(t, err)
	if !minisign.Verify(public, []byte("sums"), signature) ||
		minisign.Verify(public, []byte("other"), signature) {
		t.Errorf("the signature is wrong:\n%s", signature)
	}

	t.Setenv(passwordVariable, "wrong")
	if err := r.sign("SHA256SUMS", nil); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("with a wrong password: %v", err)
	}
}

func TestRelease_RefusesChanges(t *testing.T) {
	r := &release{root: t.TempDir()}
	for _, words := range [][]string{{"init", "-q"},
		{"-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q", "--allow-empty", "-m", "x"}} {
		cmd := command(t, "git", words...)
		cmd.Dir = r.root
		must(t, cmd.Run())
	}
	must(t, os.WriteFile(r.root+"/new", nil, 0o644))
	if err := r.readCheckout(false); err == nil || !strings.Contains(err.Error(), "has changes") {
		t.Errorf("a checkout with changes: %v", err)
	}
	if _, err := emptyDir(r.root); err == nil {
		t.Error("a directory with files is accepted")
	}
}

// TestArchive_LinksOfReadme follows the links of the README in an archive to files in it.
func TestArchive_LinksOfReadme(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f, err := os.Open(result(t, oneNode, "linux_amd64.tar.gz"))
	must(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	must(t, err)
	extract(t, dir, z)
	found, err := filepath.Glob(filepath.Join(dir, "*", "README.md"))
	must(t, err)
	text, err := os.ReadFile(found[0])
	must(t, err)
	links := regexp.MustCompile(`\]\(([^)#]+)`).FindAllStringSubmatch(string(text), -1)
	if len(links) < 20 {
		t.Errorf("the README has the links %q", links)
	}
	for _, link := range links {
		if strings.Contains(link[1], "://") {
			continue
		}
		if _, err := os.Stat(filepath.Join(filepath.Dir(found[0]), link[1])); err != nil {
			t.Error(err)
		}
	}
}
