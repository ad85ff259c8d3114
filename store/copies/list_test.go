package copies

import (
	"os"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"reeve/store/disk/disktest"
)

// TestNames_MomentsAndDamage lists copies with an identity, which shows damage and all moments that can be restored,
// with another one, and without any, where names alone say of which moments the commits are stored.
func TestNames_MomentsAndDamage(t *testing.T) {
	t.Parallel()
	in, target := newInstallation(t, 1), directory(t)
	r := in.repository(target, Options{})
	in.streamed(r, 3)
	s := scan(t, r)
	ranges := r.Ranges()
	names := func(identities ...age.Identity) []Named {
		t.Helper()
		all, err := Names(t.Context(), target, identities)
		if err != nil || len(all) != 3 {
			t.Fatal(all, err)
		}
		return all
	}
	until := func(all []Named) (out []time.Time) {
		for _, c := range all {
			out = append(out, c.Until)
		}
		return out
	}
	end := ranges[0].To
	disktest.Equal(t, "ends with the identity", until(names(in.identity)), []time.Time{{}, {}, end})
	disktest.Equal(t, "ends by names", until(names()), []time.Time{{}, end, {}}) // the first part also has commits after the first copy

	other, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range names(other) {
		if c.Fault != "it is for another recipient" || !c.Until.IsZero() {
			t.Errorf("%+v", c)
		}
	}

	for name, damage := range map[string]func(path string) error{
		"have another size": func(path string) error { return os.Truncate(path+dataSuffix, 100) },
		"are missing":       func(path string) error { return os.Remove(path + dataSuffix) },
		"authenticate":      func(path string) error { return flip(path+listSuffix, 300) },
	} {
		oldest := s.Copies[2].Name
		path := target.path(oldest)
		data, list := disktest.ReadFile(t, path+dataSuffix), disktest.ReadFile(t, path+listSuffix)
		if err := damage(path); err != nil {
			t.Fatal(err)
		}
		all := names(in.identity)
		if all[2].Name != oldest || !strings.Contains(all[2].Fault, name) {
			t.Errorf("%s: %+v", name, all[2])
		}
		disktest.Equal(t, "ends without the oldest copy", until(all), []time.Time{{}, end, {}})
		disktest.WriteFile(t, path+dataSuffix, data)
		disktest.WriteFile(t, path+listSuffix, list)
	}

	first := s.parts[4] // in the middle of the commits after the second copy
	if err := os.Remove(target.path(first.object.Name)); err != nil {
		t.Fatal(err)
	}
	gap := time.UnixMicro(s.parts[3].Time).UTC()
	disktest.Equal(t, "ends with a gap", until(names(in.identity)), []time.Time{end, {}, gap})
	disktest.Equal(t, "ends with a gap by names", until(names()), []time.Time{end, gap, {}})
}
