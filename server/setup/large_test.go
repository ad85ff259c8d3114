package setup_test

import (
	"fmt"
	"strings"
	"testing"

	"reeve/server/servertest"
	"reeve/server/setup"
	"reeve/server/web"
	"reeve/store/disk/disktest"
)

// largeDictionary returns a setup with a dictionary of n items, and its size in bytes.
func largeDictionary(t *testing.T, n int) (values map[string]any, size int) {
	items := make([]any, n)
	for i := range items {
		items[i] = map[string]any{"value": fmt.Sprint("value ", i), "label": strings.Repeat("label ", 25)}
	}
	values = map[string]any{"dictionaries": map[string]any{"large": map[string]any{"name": "Large", "items": items}}}
	return values, len(file(t, values, false))
}

// applyDictionary applies the setup of largeDictionary, and waits until it is there.
func applyDictionary(t *testing.T, in *servertest.Instance, n int) {
	values, _ := largeDictionary(t, n)
	var out struct{ Job *struct{ ID uint64 } }
	in.OK("POST", "/system/setup/apply", file(t, values, false), "cli").Data(&out)
	if out.Job == nil {
		return
	}
	servertest.Until(t, "the job to end", func() bool {
		var job struct{ State, Msg string }
		in.OK("GET", fmt.Sprint("/system/job/", out.Job.ID), "", "cli").Data(&job)
		if job.State == "failed" {
			t.Fatal(job.Msg)
		}
		return job.State == "done"
	})
}

// TestSetup_Large plans and applies a dictionary with 20,000 items, far more than other routes take, and
// plans its export.
func TestSetup_Large(t *testing.T) {
	t.Parallel()
	in := commandLine(t)
	values, size := largeDictionary(t, 20_000)
	if size < 3<<20 {
		t.Fatalf("it has only %d bytes", size)
	}
	if n := len(changesOf(in.OK("POST", "/system/setup/plan", file(t, values, false), "cli"))); n != 20_001 {
		t.Errorf("%d changes are planned", n)
	}
	applyDictionary(t, in, 20_000)
	left := changesOf(in.OK("POST", "/system/setup/plan", file(t, exported(in), false), "cli"))
	disktest.Equal(t, "changes that the export plans", left, nil)
	if n := in.Server.Limits.LargeBodies.Now(); n != 0 {
		t.Errorf("%d places of large bodies are held", n)
	}
}

// TestSetup_LargeBodiesBounded sends a setup that is too large, one that has too many values, and one while
// another one is in memory. Setups of the usual size are not affected.
func TestSetup_LargeBodiesBounded(t *testing.T) {
	t.Parallel()
	in := commandLine(t)
	values, _ := largeDictionary(t, 60_000)
	in.Call("POST", "/system/setup/plan", file(t, values, false), "cli").Brief(413, fmt.Sprintf("at most %d are allowed", setup.MaxBody))
	many := make([]any, setup.MaxValues)
	for i := range many {
		many[i] = "x"
	}
	values["dictionaries"].(map[string]any)["large"].(map[string]any)["items"] = many
	in.Call("POST", "/system/setup/plan", file(t, values, false), "cli").Brief(400, fmt.Sprintf("at most %d values", setup.MaxValues))

	limit := in.Server.Limits.LargeBodies
	servertest.Must(t, limit.Acquire(limit.Total))
	bytes, _ := largeDictionary(t, web.MaxBody/100)
	many = many[:web.MaxValues+1]
	values["dictionaries"].(map[string]any)["large"].(map[string]any)["items"] = many
	for name, values := range map[string]map[string]any{"bytes": bytes, "values": values} {
		a := in.Call("POST", "/system/setup/plan", file(t, values, false), "cli")
		if a.Code != 503 || a.Header.Get("Retry-After") == "" {
			t.Errorf("many %s: %d %s", name, a.Code, a.Body)
		}
	}
	in.OK("POST", "/system/setup/plan", file(t, decodedShop(t), false), "cli")
	limit.Release(limit.Total)
	in.OK("POST", "/system/setup/plan", file(t, bytes, false), "cli")
}
