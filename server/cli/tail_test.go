package cli

import (
	"strings"
	"testing"

	"reeve/store/errs"
)

func TestLogEntry_SaysWhatWasDone(t *testing.T) {
	t.Parallel()
	e := logEntry{Seq: 7, Action: "file_move", Actor: logActor{Kind: "program"}}
	if line := e.line(); !strings.HasSuffix(line, "  program  file move") {
		t.Error(line)
	}
	e.Action = "restore"
	if line := e.line(); !strings.HasSuffix(line, "  program  restore") {
		t.Error(line)
	}
	e.Operation.Title = "Undo a change"
	if line := e.line(); !strings.HasSuffix(line, "  Undo a change") {
		t.Error(line)
	}
}

func TestCount_Plurals(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"1 record": errs.Count(1, "record"), "0 records": errs.Count(0, "record"), "1 entry": errs.Count(1, "entry"),
		"2 entries": errs.Count(2, "entry"), "2 keys": errs.Count(2, "key"), "2 days": errs.Count(2, "day"),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
