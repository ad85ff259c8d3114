package cli

import (
	"strings"
	"testing"
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
