package redis

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRedisTargets(t *testing.T) {
	got, err := ParseTargets([]string{
		"cache=redis://10.0.0.1:6379",
		"main_2=rediss://watcher:p%40ss%2Fw%3Drd@redis.example:6380/15",
		"six-=redis://:only@[::1]:7000/",
	})
	want := []Target{
		{name: "cache", addr: "10.0.0.1:6379"},
		{
			name:     "main_2",
			addr:     "redis.example:6380",
			tls:      true,
			username: "watcher",
			password: "p@ss/w=rd",
			db:       15,
		},
		{name: "six-", addr: "[::1]:7000", password: "only"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Target{})); err != nil || diff != "" {
		t.Errorf("%v (- want, + got):\n%s", err, diff)
	}
}

// TestInvalidRedisTargets puts "hunter" in every place where a part of an
// unescaped password may end up.
func TestInvalidRedisTargets(t *testing.T) {
	for name, tc := range map[string]struct{ text, says string }{
		"nothing":              {"", "entry 2 must be like"},
		"no name":              {"redis://u:hunter@h:1", "entry 2 must be like"},
		"no name and a =":      {"redis://u:hunter=@h:1", "entry 2 must be like"},
		"empty name":           {"=redis://u:hunter@h:1", "entry 2 must be like"},
		"capitals in the name": {"Hunter=redis://h:1", "entry 2 must be like"},
		"long name": {strings.Repeat("n", 33) + "=redis://u:hunter@h:1",
			"entry 2 must be like"},
		"a name twice": {"one=redis://u:hunter@h:1",
			"entry 2: the name one is used twice"},
		"another scheme": {"x=http://u:hunter@h:1",
			"x: the address must begin with redis://"},
		"no slashes": {"x=redis:hunter",
			"x: the address must begin with redis://"},
		"no port": {"x=redis://u:hunter@h",
			"x: the address must have a host and a port"},
		"port zero": {"x=redis://u:hunter@h:0",
			"x: the address must have a host and a port"},
		"port too high": {"x=redis://u:hunter@h:65536",
			"x: the address must have a host and a port"},
		"port in words": {"x=redis://u:hunter@h:port",
			"x: the address cannot be read"},
		"no host": {"x=redis://u:hunter@:1",
			"x: the address must have a host and a port"},
		"database in words": {"x=redis://u:hunter@h:1/main",
			"x: the database must be a number"},
		"negative database": {"x=redis://u:hunter@h:1/-1",
			"x: the database must be a number"},
		"database too high": {"x=redis://u:hunter@h:1/65536",
			"x: the database must be a number"},
		"more below the database": {"x=redis://u:hunter@h:1/1/2",
			"x: the database must be a number"},
		"user without a password": {"x=redis://hunter@h:1", "x: a user needs a password"},
		"empty password":          {"x=redis://hunter:@h:1", "x: a user needs a password"},
		"query": {"x=redis://h:1?password=hunter",
			"x: the address must end with the database"},
		"/ in the password": {"x=redis://u:hunter/2@h:1",
			"x: the address cannot be read"},
		"/ in a password of digits": {"x=redis://hunter:12/3@h:1",
			"x: the database must be a number"},
		"# in the password": {"x=redis://u:12#hunter@h:1",
			"x: the address must end with the database"},
		"# ends the password": {"x=redis://u:12#",
			"x: the address must end with the database"},
		"? in the password": {"x=redis://u:12?hunter@h:1",
			"x: the address must end with the database"},
		"wrong escape in the password": {"x=redis://u:hunter%zz@h:1",
			"x: the address cannot be read"},
		"control character": {"x=redis://u:hunter\n@h:1",
			"x: the address cannot be read"},
	} {
		switch _, err := ParseTargets([]string{"one=redis://h:1", tc.text}); {
		case err == nil:
			t.Errorf("%s: accepted", name)
		case !strings.Contains(err.Error(), tc.says) ||
			strings.Contains(strings.ToLower(err.Error()), "hunter"):
			t.Errorf("%s: %v", name, err)
		}
	}
}
