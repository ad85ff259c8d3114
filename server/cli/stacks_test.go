package cli

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
)

func TestStacks_CountsGoroutines(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	begun := make(chan struct{})
	for range 50 {
		go func() {
			begun <- struct{}{}
			waitFor(release)
		}()
		<-begun
	}
	for {
		var out bytes.Buffer
		writeStacks(&out)
		for part := range strings.SplitSeq(out.String(), "\n\n") {
			if regexp.MustCompile(`^50 at\n(.*\n)*\treeve/server/cli\.waitFor .*stacks_test\.go:\d+\n`).MatchString(part) {
				return
			}
		}
	}
}

// waitFor has a frame of its own.
//
//go:noinline
func waitFor(release chan struct{}) { <-release }
