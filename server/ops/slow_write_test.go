package ops_test

import (
	"strings"
	"testing"
	"time"

	"reeve/server/servertest"
	"reeve/store"
)

// TestSlowWrite_Reported checks that the report names the operation.
func TestSlowWrite_Reported(t *testing.T) {
	t.Parallel()
	var log servertest.Log
	in := servertest.Start(t, func(su *servertest.Setup) { su.Log = &log })
	write := func(operation string, hold time.Duration) {
		servertest.Must(t,
			in.DB.WithRecorder(nil).For(operation, nil).Update(store.System, func(*store.Tx) error {
				time.Sleep(hold)
				return nil
			}))
	}
	write("PUT /quick", 0)
	write("PUT /slow", 120*time.Millisecond)
	write("", 120*time.Millisecond)
	in.Update(func(*store.Tx) error { return nil }) // waits for the earlier reports
	text := in.OK("GET", "/metrics", "", "metrics").Body
	for _, want := range []string{`reeve_store_slow_writes_total{operation="PUT /slow"} 1`,
		`reeve_store_slow_writes_total{operation="background"} 1`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing", want)
		}
	}

	if strings.Contains(text, "PUT /quick") ||
		!strings.Contains(log.String(), `"operation":"PUT /slow"`) {
		t.Errorf("log: %s", log.String())
	}
}
