package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"reeve/server/config"
)

type composeFile struct {
	Services map[string]struct {
		Image       string
		Command     string
		Environment map[string]string
	}
	Networks map[string]struct {
		IPAM struct{ Config []struct{ Subnet string } }
	}
}

// readCompose returns the example and its text.
func readCompose(t *testing.T) (c composeFile, text string) {
	t.Helper()
	b, err := os.ReadFile("compose.yaml")
	must(t, err)
	must(t, yaml.Unmarshal(b, &c))
	return c, string(b)
}

// TestCompose_MatchesProgram checks that the example names the version and keys of the program.
func TestCompose_MatchesProgram(t *testing.T) {
	compose, text := readCompose(t)
	r := &release{root: "../.."}
	must(t, r.readCheckout(true))
	if image := compose.Services["reeve"].Image; image != "reeve:"+r.version ||
		!strings.Contains(text, "reeve_"+r.version+"_oci.tar") {
		t.Errorf("the image is %s, the version %s", image, r.version)
	}

	for name := range compose.Services["reeve"].Environment {
		table, key, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(name, "REEVE_")), "__")
		if _, keys, found := strings.Cut(config.Example(), "\n["+table+"]\n"); !found ||
			!strings.Contains(keys, "\n"+key+" = ") {
			t.Errorf("%s is no key", name)
		}
	}

	if len(compose.Services["reeve"].Environment) == 0 {
		t.Error("the environment is empty")
	}
}

// behindCaddy runs the program and Caddy as compose does, in a network of its own where localhost is the
// domain, and prints what a client sees and what the program warns of.
const behindCaddy = `set -euo pipefail
cd "$1"
umask 077
ip link set lo up
ip addr add 10.77.0.2/24 dev lo
printf '127.0.0.1 localhost\n10.77.0.2 reeve\n' > hosts
mount --bind hosts /etc/hosts
mount -t tmpfs tmpfs /usr/local/share # where Caddy adds its authority to those of the system
export HOME=$PWD XDG_DATA_HOME=$PWD XDG_CONFIG_HOME=$PWD REEVE_ADMIN_PASSWORD='correct horse battery'
./reeve serve --listen 10.77.0.2:8080 --data data 2> reeve.log &
$CADDY > caddy.log 2>&1 &
ask() { curl -sS --fail-with-body --cacert caddy/pki/authorities/local/root.crt -H "Authorization: Bearer ${token-}" "$@"; }
for i in $(seq 300); do
	ask https://localhost/health/ready > ready 2>&1 && break
	sleep 0.1
done
grep -o '"success":true' ready || cat ready caddy.log >&2
curl -sS -o page -w '%{http_code} %{redirect_url}\n' http://localhost/
ask -L -o page https://localhost/
grep -o '<title>.*</title>' page
login='{"username":"admin","password":"correct horse battery"}'
token=$(ask --json "$login" -H 'X-Forwarded-For: 203.0.113.77' https://localhost/admin/login | grep -o '"token":"[^"]*' | cut -d'"' -f4)
ask 'https://localhost/system/loginlog?pageSize=1' | grep -o '"ip":"[^"]*"'
ask -N --max-time 30 https://localhost/system/event > events &
for i in $(seq 300); do
	grep -q 'event: open' events && break
	sleep 0.1
done
ask --json '{"code":"seen","name":"Seen"}' https://localhost/system/dict > /dev/null
for i in $(seq 300); do
	grep 'event: dict.changed' events && break
	sleep 0.1
done
grep -v '"level":"info"' reeve.log || true
`

func TestCompose_CaddyInFront(t *testing.T) {
	needsRoot(t)
	for _, name := range []string{"caddy", "curl", "ip", "mount"} {
		command(t, name)
	}
	if out, err := command(t, "unshare", "--net", "true").CombinedOutput(); err != nil {
		t.Skipf("a network of its own cannot be had here: %v: %s", err, out)
	}
	compose, _ := readCompose(t)
	dir := filepath.Dir(unpacked(t, result(t, oneNode, "linux_amd64.tar.gz")))
	cmd := command(t, "unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "bash", "-c", behindCaddy, "bash", dir)
	withDomain := strings.NewReplacer("${DOMAIN}", "localhost")
	cmd.Env = append(os.Environ(), "CADDY="+withDomain.Replace(compose.Services["caddy"].Command))
	for name, value := range compose.Services["reeve"].Environment {
		cmd.Env = append(cmd.Env, name+"="+withDomain.Replace(value))
	}
	var log bytes.Buffer
	cmd.Stderr = &log
	out, err := cmd.Output()
	want := `"success":true
308 https://localhost/
<title>Reeve</title>
"ip":"127.0.0.1"
event: dict.changed
`
	if err != nil || string(out) != want {
		t.Errorf("%v\n%s\nwant\n%s\n%s", err, out, want, &log)
	}
	if subnet := compose.Networks["front"].IPAM.Config[0].Subnet; subnet != "10.77.0.0/24" ||
		subnet != compose.Services["reeve"].Environment["REEVE_SERVER__TRUSTED_PROXIES"] {
		t.Errorf("the subnet is %s", subnet)
	}
}
