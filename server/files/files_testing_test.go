package files_test

import (
	"strings"
	"time"

	"reeve/server/servertest"
	"reeve/store/kv"
)

// blobs returns the number of stored blobs. The sweeper does not run meanwhile.
func blobs(in *servertest.Instance) int {
	in.T.Helper()
	var report kv.Report
	servertest.Must(in.T, in.DB.VerifyFiles(&report))
	return report.Blobs
}

// swept waits until n blobs are left.
func swept(in *servertest.Instance, want int) {
	in.T.Helper()
	for deadline := time.Now().Add(2 * time.Minute); blobs(in) != want; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			in.T.Fatalf("%d blobs are left, want %d", blobs(in), want)
		}
	}
}

// filler returns n bytes that start with head.
func filler(head string, n int) string {
	return head + strings.Repeat("x", n-len(head))
}

// The first bytes by which these kinds are detected.
const (
	imageHead   = "\x89PNG\r\n\x1a\n"
	audioHead   = "fLaC\x00\x00\x00\x22"
	videoHead   = "\x1aE\xdf\xa3\x01\x00\x00\x00\x00\x00\x00\x1fB\x82\x84webm"
	archiveHead = "\x1f\x8b\x08"
	documentPDF = "%PDF-1.7\n"
	otherHead   = "\x00\x01\x02\x03\xff"
)
