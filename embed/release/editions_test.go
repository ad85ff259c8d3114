package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// replace installs the packages of one node, of several and of one again in a copy of this system, and prints
// what is there after each. An overlay takes what the packages write.
const replace = `set -eu
mount -t tmpfs tmpfs "$1"
cd "$1"
mkdir upper work root
mount -t overlay overlay -o lowerdir=/,upperdir=upper,workdir=work root
cp "$2" root/one.deb
cp "$3" root/several.deb
mkdir -p root/run/systemd/system
printf '#!/bin/sh\necho "$@" >> /calls\n' > root/usr/bin/systemctl.new
chmod 755 root/usr/bin/systemctl.new
mv -f root/usr/bin/systemctl.new root/usr/bin/systemctl
# calls prints what the package has asked systemd for since the last time.
calls() {
	grep -v daemon-reload root/calls || true
	: > root/calls
}
show() {
	calls
	chroot root reeve version | grep -o 'with the client of etcd' || echo 'for one node'
	chroot root dpkg-query -W -f='${Package} ${db:Status-Status}\n' reeve reeve-cluster 2>&1 || true
	grep mine root/etc/reeve/config.toml || true
	ls root/usr/lib/systemd/system/reeve.service || true
}
chroot root dpkg -i /one.deb >&2
calls
mkdir -p root/var/lib/reeve/backup
touch root/var/lib/reeve/backup/records.tar
chroot root dpkg -i /one.deb >&2
chroot root stat -c '%U %n' /var/lib/reeve/backup /var/lib/reeve/backup/records.tar
echo '== again'
calls
echo '# mine' >> root/etc/reeve/config.toml
for file in /several.deb /one.deb /several.deb /one.deb; do
	chroot root dpkg -i $file >&2
	echo "== $file"
	show
done
chroot root dpkg --purge reeve-cluster >&2
echo '== purged'
show
`

// TestDeb_Replaces moves a machine from one package to the other and back, twice, with its configuration.
// The service runs after each exchange.
func TestDeb_Replaces(t *testing.T) {
	needsRoot(t)
	for e, wants := range map[edition]string{
		oneNode:      "Conflicts: reeve-cluster\nReplaces: reeve-cluster\n",
		severalNodes: "Conflicts: reeve\nProvides: reeve\nReplaces: reeve\n",
	} {
		out, err := command(t, "dpkg-deb", "-f", result(t, e, "amd64.deb"), "Conflicts", "Provides", "Replaces").Output()
		if err != nil || !sameLines(string(out), wants) {
			t.Errorf("%s: %v\n%s", e.name, err, out)
		}
	}

	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	cmd := command(t, "unshare", "--mount", "sh", "-c", replace, "sh", dir,
		result(t, oneNode, "amd64.deb"), result(t, severalNodes, "amd64.deb"))
	var log strings.Builder
	cmd.Stderr = &log
	out, err := cmd.Output()
	const unit = "root/usr/lib/systemd/system/reeve.service\n"
	const fresh, update, gone = "enable --now reeve.service\n", "is-active --quiet reeve.service\nrestart reeve.service\n", "disable --now reeve.socket reeve.service\n"
	exchange := "== /several.deb\n" + gone + fresh + "with the client of etcd\nreeve config-files\nreeve-cluster installed\n# mine\n" + unit +
		"== /one.deb\n" + gone + fresh + "for one node\nreeve installed\nreeve-cluster config-files\n# mine\n" + unit
	const given = "reeve /var/lib/reeve/backup\nreeve /var/lib/reeve/backup/records.tar\n"
	want := fresh + given + "== again\n" + update + exchange + exchange +
		"== purged\nfor one node\nreeve installed\nreeve-cluster not-installed\n# mine\n" + unit
	if err != nil || string(out) != want {
		t.Errorf("%v\n%s\nwant\n%s\n%s", err, out, want, &log)
	}
}

// sameLines reports whether two texts have the same lines, in any order.
func sameLines(a, b string) bool {
	count := map[string]int{}
	for line := range strings.Lines(a) {
		count[line]++
	}
	for line := range strings.Lines(b) {
		count[line]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}
