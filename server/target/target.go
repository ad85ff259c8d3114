// Package target opens the targets of copies that the configuration names: a directory, a bucket,
// or a command. It knows what they are, and nothing about schedules and records.
package target

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"reeve/store/copies"
	"reeve/store/s3"
)

// Config is a target. It has one of Path, S3.Bucket and Command.
type Config struct {
	Name      string     // name of the table in the configuration
	Path      string     // directory
	S3        s3.Options // bucket
	Command   []string   // program and arguments that read a whole backup from their standard input
	Bandwidth int64      // maximum of bytes sent a second; 0 for no limit
	NoDelete  bool       // whether copies are never deleted
}

// Kinds of targets.
const (
	Directory = "directory"
	Bucket    = "bucket"
	Command   = "command"
)

// Kind returns what the target is.
func (c *Config) Kind() string {
	switch {
	case c.Path != "":
		return Directory
	case c.S3.Bucket != "":
		return Bucket
	}
	return Command
}

// Place returns where copies go, without credentials.
func (c *Config) Place() string {
	switch c.Kind() {
	case Directory:
		return c.Path
	case Bucket:
		return strings.TrimRight(c.S3.Endpoint, "/") + "/" + c.S3.Bucket + "/" + c.S3.Prefix
	}
	return c.Command[0]
}

// Check returns an error unless the configuration is complete.
func (c *Config) Check() error {
	given := 0
	for _, has := range []bool{c.Path != "", c.S3.Bucket != "", len(c.Command) > 0} {
		if has {
			given++
		}
	}
	switch {
	case given != 1:
		return errors.New("needs one of path, bucket and command")
	case c.Bandwidth < 0:
		return errors.New("bandwidth must not be negative")
	case c.S3.Bucket == "":
		return nil
	case c.S3.AccessKey == "" || c.S3.SecretKey == "":
		return errors.New("needs access_key and secret_key for its bucket")
	}
	_, err := s3.New(c.S3)
	return err
}

// Open returns the target. It does not connect.
func (c *Config) Open() (copies.Target, error) {
	if c.Kind() == Directory {
		return copies.Patient(copies.Directory(c.Path)), nil
	}
	b, err := s3.New(c.S3)
	if err != nil {
		return nil, err
	}
	return copies.Patient(b), nil
}

// commandTime is the time after which a command is ended that reads nothing more.
const commandTime = 10 * time.Minute

// Run gives a command a whole backup, encrypted to recipients. It has the name of the file in the
// variable REEVE_BACKUP_NAME.
func (c *Config) Run(ctx context.Context, name string, write func(io.Writer) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.Command[0], c.Command[1:]...)
	cmd.Env = append(os.Environ(), "REEVE_BACKUP_NAME="+name)
	said := &tail{}
	cmd.Stdout, cmd.Stderr = said, said
	cmd.WaitDelay = 10 * time.Second
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	timer := time.AfterFunc(commandTime, cancel)
	defer timer.Stop()
	err = errors.Join(write(&reading{stdin, timer}), stdin.Close())
	if err != nil {
		cancel() // it must not take what it has read for a whole backup
	}
	if ended := cmd.Wait(); ended != nil {
		return fmt.Errorf("%s: %w: %s", c.Command[0], ended, said)
	}
	return err
}

// reading sets the timer again whenever the command has read something.
type reading struct {
	io.Writer
	timer *time.Timer
}

func (r *reading) Write(p []byte) (int, error) {
	n, err := r.Writer.Write(p)
	r.timer.Reset(commandTime)
	return n, err
}

// tail keeps the last bytes that a command has printed.
type tail struct{ last []byte }

const maxTail = 1000

func (t *tail) Write(p []byte) (int, error) {
	t.last = append(t.last, p...)
	t.last = t.last[max(0, len(t.last)-maxTail):]
	return len(p), nil
}

func (t *tail) String() string { return strings.ToValidUTF8(strings.TrimSpace(string(t.last)), "?") }

// Set is all that the configuration says about copies.
type Set struct {
	Targets    []Config
	Recipients []string // age recipients of the copies
	PingURL    string   // URL that is requested after a proven copy, if each target that can be read has a recent one; "" for none
	Local      bool     // whether there are copies in the data directory while there are no targets
}
