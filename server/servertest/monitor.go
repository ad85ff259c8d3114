package servertest

import (
	"encoding/hex"
	"regexp"

	"reeve/server/monitor"
	"reeve/server/ops"
	"reeve/server/web"
)

// Flush writes the monitoring of the requests so far, as the running server does every
// second.
func (in *Instance) Flush() {
	in.T.Helper()
	if !in.recording {
		in.Server.Monitor.Open()
		in.recording = true
		in.T.Cleanup(func() { Must(in.T, in.Server.Monitor.Close()) })
	}
	in.Server.Monitor.Flush()
}

// HealthParts returns the overall state in /system/health, and each component by name.
func (in *Instance) HealthParts() (string, map[string]web.Part) {
	in.T.Helper()
	var out ops.SystemHealthOut
	in.OK("GET", "/system/health", "", "owner").Data(&out)
	parts := map[string]web.Part{}
	for _, p := range out.Parts {
		parts[p.Name] = p
	}
	return out.State, parts
}

var escapes = regexp.MustCompile(`(?i)\\+u00([0-9a-f]{2})|%(?:25)*([0-9a-f]{2})`)

// Plain removes escapes of letters and digits.
func Plain(text string) string {
	return escapes.ReplaceAllStringFunc(text, func(s string) string {
		b, err := hex.DecodeString(s[len(s)-2:])
		if err != nil {
			return s
		}
		return string(b)
	})
}

// Stats returns the statistics of the requests so far.
func (in *Instance) Stats(query string) (out monitor.Stats) {
	in.T.Helper()
	in.Flush()
	in.OK("GET", "/system/monitor/stats"+query, "", "owner").Data(&out)
	return out
}
