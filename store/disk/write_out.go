package disk

import "os"

// What is written to a file stays in memory until the file is synced. The sync of a large one takes long
// then, and so do those of other files at the same time, such as that of a commit. So large files are
// written to the disk in steps, where the system can do that; a sync is needed at the end, too.

// StartWriting begins to write a file to the disk, and does not wait for that.
func StartWriting(f *os.File) { writeOut(f, 0, 0, false) }

// stepBytes is the size of a step: with it, a commit waits for a few milliseconds at most.
const stepBytes = 512 << 10

// StepWriter writes a new file in steps, each of which is on its way to the disk alone.
type StepWriter struct {
	File *os.File

	begun, end int64 // part of the file that was not written to the disk
}

// Write implements io.Writer.
func (s *StepWriter) Write(p []byte) (n int, err error) {
	for len(p) > 0 && err == nil {
		var wrote int
		wrote, err = s.File.Write(p[:min(int64(len(p)), stepBytes-(s.end-s.begun))])
		n, p = n+wrote, p[wrote:]
		if s.end += int64(wrote); s.end-s.begun == stepBytes {
			writeOut(s.File, s.begun, stepBytes, true)
			s.begun = s.end
		}
	}
	return n, err
}
