package cli

import (
	"fmt"
	"io"
	"runtime"
	"sort"

	"reeve/store/errs"
)

// writeStacks writes the stacks of all goroutines, the most frequent first, without arguments. runtime/pprof does
// the same, and is 90 kB of the program.
func writeStacks(w io.Writer) {
	records := make([]runtime.StackRecord, 2*runtime.NumGoroutine()+100) // room for those that start in between
	n, ok := runtime.GoroutineProfile(records)
	if !ok {
		fmt.Fprintln(w, "too many goroutines:", n)
		return
	}
	counts := map[[32]uintptr]int{}
	for _, r := range records[:n] {
		counts[r.Stack0]++
	}
	all := make([][32]uintptr, 0, len(counts))
	for stack := range counts {
		all = append(all, stack)
	}
	sort.Slice(all, func(i, j int) bool { return counts[all[i]] > counts[all[j]] })
	fmt.Fprintln(w, errs.Count(n, "goroutine"))
	for _, stack := range all {
		fmt.Fprintf(w, "\n%d at\n", counts[stack])
		record := runtime.StackRecord{Stack0: stack}
		frames := runtime.CallersFrames(record.Stack())
		for more := true; more; {
			var f runtime.Frame
			f, more = frames.Next()
			fmt.Fprintf(w, "\t%s %s:%d\n", f.Function, f.File, f.Line)
		}
	}
}
