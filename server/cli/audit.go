package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"reeve/store"
	"reeve/store/audit"
	"reeve/store/errs"
)

// verifyLog verifies the change log: that of the data directory, or exported files.
func (p *program) verifyLog() error {
	known, err := parseHead(p.head)
	if err != nil {
		return err
	}

	var result audit.Result
	inUse := false
	if len(p.args) > 0 {
		result, err = audit.VerifyFiles(p.args, known)
	} else if err = p.needsDatabase(); err == nil {
		result, inUse, err = store.VerifyLog(p.config.DataDir, known, p.storeOptions())
	}
	if inUse {
		result, err = p.verifyLiveLog()
	}

	of, do := "", ""
	if len(p.args) == 0 {
		of, do = " of "+p.config.DataDir, "; if it is damaged: "+wayOut
	}
	if altered := (*audit.Altered)(nil); errors.As(err, &altered) || store.IsDamage(err) {
		return exit{fmt.Errorf("the change log%s is not as it was written: %w", of, err),
			foundCode}
	}
	if err != nil {
		return fmt.Errorf("the change log%s could not be verified: %w%s", of, err, do)
	}
	if result.Entries == 0 {
		return errors.New("the change log has no entries, which proves nothing")
	}

	head := fmt.Sprintf("%s:%d:%s", result.Head.Generation, result.Head.Seq, result.Head.Hash)
	return p.show(map[string]any{"entries": result.Entries, "first": result.First, "last": result.Head.Seq, "head": head},
		"%s from %d to %d intact, head %s", errs.Count(int(result.Entries), "entry"), result.First, result.Head.Seq, head)
}

// verifiedLog is what the running server says about its change log.
type verifiedLog struct {
	Result  audit.Result `json:"result"`
	Altered string       `json:"altered"` // fault of the log; "" if it is intact
}

// verifyLiveLog lets the running server verify the change log, which has entries that no other
// process can read.
func (p *program) verifyLiveLog() (result audit.Result, err error) {
	c, err := p.connect()
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	var done verifiedLog
	if err := c.call("POST", "/local/audit-verify", nil, map[string]string{"head": p.head}, &done); err != nil {
		return result, err
	}
	if done.Altered != "" {
		return result, &audit.Altered{Err: errors.New(done.Altered)}
	}
	return done.Result, nil
}

// verifyOwnLog verifies the change log of the server in this process.
func verifyOwnLog(db *store.DB, head string) (done verifiedLog, err error) {
	known, err := parseHead(head)
	if err != nil {
		return done, err
	}
	done.Result, err = db.VerifyLog(known)
	if altered := (*audit.Altered)(nil); errors.As(err, &altered) || store.IsDamage(err) {
		done.Altered, err = err.Error(), nil
	}
	return done, err
}

// parseHead parses the value of --head: generation, number and hash as verifyLog and the log of the
// server print them, separated by colons.
func parseHead(text string) ([]audit.Head, error) {
	if text == "" {
		return nil, nil
	}

	head := audit.Head{}
	parts := strings.Split(text, ":")
	var err error
	if len(parts) == 3 {
		head.Generation = parts[0]
		if head.Seq, err = strconv.ParseUint(parts[1], 10, 64); err == nil {
			err = head.Hash.UnmarshalText([]byte(parts[2]))
		}
	}
	if len(parts) != 3 || err != nil {
		return nil,
			fmt.Errorf("--head must be GENERATION:NUMBER:HASH, as `reeve audit verify` prints it")
	}

	return []audit.Head{head}, nil
}
