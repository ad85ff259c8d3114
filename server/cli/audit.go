package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"reeve/store"
	"reeve/store/audit"
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
	} else {
		result, inUse, err = store.VerifyLog(p.config.DataDir, known, p.storeOptions())
	}

	of, do := "", ""
	if len(p.args) == 0 {
		of, do = " of "+p.config.DataDir, "; if it is damaged: "+wayOut
	}
	if altered := (*audit.Altered)(nil); errors.As(err, &altered) || store.IsDamage(err) {
		return exit{fmt.Errorf("the change log%s is not as it was written: %w", of, err),
			alteredCode}
	}
	if err != nil {
		return fmt.Errorf("the change log%s could not be verified: %w%s", of, err, do)
	}
	if inUse {
		fmt.Fprintln(p.out,
			"a server is using the data: only the segments were verified; stop it to verify the newest entries, too")
	}
	if result.Entries == 0 {
		return errors.New("the change log has no entries, which proves nothing")
	}

	_, err = fmt.Fprintf(p.out, "%d entries from %d to %d are intact, head %s:%d:%s\n",
		result.Entries, result.First, result.Head.Seq, result.Head.Generation, result.Head.Seq,
		result.Head.Hash)
	return err
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
