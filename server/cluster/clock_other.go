//go:build !linux

package cluster

import "time"

var booted = time.Now()

// sinceBoot is a clock that only runs forward. It may stand still while the machine sleeps.
func sinceBoot() time.Duration { return time.Since(booted) }

// placeOf names a directory of this machine since its last start. It is unknown here.
func placeOf(string) string { return "" }
