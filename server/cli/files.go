package cli

import (
	"errors"
	"fmt"
	"time"

	"reeve/store/errs"
)

// fileMove is a job that moves contents of files, as the server describes it.
type fileMove struct {
	ID    int64  `json:"id"`
	State string `json:"state"`
	Total int64  `json:"total"`
	Done  int64  `json:"done"`
	Msg   string `json:"msg"`
}

// moveFiles moves the contents of all files, and waits.
func (p *program) moveFiles(c *client) error {
	to := p.args[0]
	if to != "s3" && to != "local" {
		return errors.New("name s3 for the bucket, or local for the data directory")
	}
	if err := p.needsServer(c); err != nil {
		return err
	}
	var job fileMove
	if err := c.call("POST", "/system/file-move", nil, map[string]string{"to": to}, &job); err != nil {
		return err
	}
	for {
		if err := c.get(fmt.Sprint("/system/job/", job.ID), nil, &job); err != nil {
			return err
		}
		p.progress.step("move", job.Done, job.Total)
		if job.State == "done" || job.State == "failed" {
			break
		}
		time.Sleep(askEvery)
	}
	p.progress.end()
	if job.State == "failed" {
		return fmt.Errorf("%s; of %s, %d moved", job.Msg, errs.Count(int(job.Total), "content"), job.Done)
	}
	if to == "local" {
		_, err := fmt.Fprintf(p.out, "in the data directory: %s; remove files.s3 from the configuration and restart, or new files go to the bucket\n", errs.Count(int(job.Done), "content"))
		return err
	}
	_, err := fmt.Fprintf(p.out, "in the bucket: %s\n", errs.Count(int(job.Done), "content"))
	return err
}

// cancelMove ends the move of contents.
func (p *program) cancelMove(c *client) error {
	if err := p.needsServer(c); err != nil {
		return err
	}
	return c.call("POST", "/system/file-move/cancel", nil, nil, nil)
}
