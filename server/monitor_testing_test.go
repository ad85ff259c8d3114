package server

// flush writes the monitoring of the requests so far, as the running server does every
// second.
func (in *instance) flush() {
	in.t.Helper()
	if !in.recording {
		in.server.Monitor.Open()
		in.recording = true
		in.t.Cleanup(func() { must(in.t, in.server.Monitor.Close()) })
	}
	in.server.Monitor.Flush()
}
