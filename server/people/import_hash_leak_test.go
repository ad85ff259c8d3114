package people_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"reeve/server/servertest"
	"reeve/store"
)

// stepInputs returns the stored inputs of all steps of jobs.
func stepInputs(in *servertest.Instance) (text string) {
	in.T.Helper()
	in.View(func(tx *store.Tx) error {
		for s, err := range store.JobSteps.All(tx) {
			if err != nil {
				return err
			}
			text += string(s.Input)
		}
		return nil
	})
	return text
}

// everyText returns what the server tells of the past, and its files but the database, by where it
// is.
func everyText(in *servertest.Instance) map[string]string {
	in.T.Helper()
	texts := map[string]string{}
	for _, address := range []string{
		"/system/audit?pageSize=100", "/system/job", "/admin/list", "/user/list",
		"/admin/list-export", "/user/list-export", "/admin/list/2",
		"/system/monitor/request?pageSize=1000", "/system/monitor/query?pageSize=1000",
		"/system/monitor/auth", "/system/info", "/system/audit-export",
	} {
		texts[address] = in.OK("GET", address, "", "owner").Body
	}

	for seq := range in.NewestEntry() {
		texts[fmt.Sprint("entry ", seq+1)] = in.OK("GET", fmt.Sprintf("/system/audit/%d", seq+1),
			"", "owner").Body
	}

	servertest.Must(in.T,
		filepath.WalkDir(in.Dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || d.Name() == "data.db" {
				return err
			}
			b, err := os.ReadFile(path)
			texts[path] = string(b)
			return err
		}))
	return texts
}

// A hash is nowhere but in its record: not in the steps of the job, the change log, monitoring,
// answers, or files other than the database.
func TestImportedHash_StaysInRecord(t *testing.T) {
	t.Parallel()
	const secret = "92IXUNpkjO0rOQ5byMi"
	var log servertest.Log
	in := servertest.Start(t, func(s *servertest.Setup) { s.Log = &log })
	in.Flush()
	in.OK("POST", "/system/monitor/trace", `{"user_id":1,"minutes":5}`, "owner")
	for _, c := range importRealms {
		for _, name := range []string{"ann", "admin"} { // the second is taken meanwhile, so that the job fails
			held := ""
			a := in.HeldUpload(c.path+"-import",
				"username,password_hash\nnew-"+name+","+laravelHash+"\n"+"other-"+name+","+ryHash+"\n", "owner", func() {
					held = stepInputs(in)
					if name == "admin" {
						in.Create(c.path,
							`{"username":"other-admin","password":"long enough it is"}`)
					}
				})
			if wrong := a.Code != 200; wrong != (name == "admin") ||
				strings.Contains(a.Body, secret) {
				t.Errorf("%s: %d %s", name, a.Code, a.Body)
			}
			if !strings.Contains(held, `"box":`) || strings.Contains(held, secret) ||
				strings.Contains(held, store.ImportedHash) || stepInputs(in) != "" {
				t.Errorf("%s: the steps were %s, and are %s", name, held, stepInputs(in))
			}
		}
		in.Upload(c.path+"-import", "username,password_hash\nx,"+laravelHash+"\n", "owner").Brief(422)
	}

	in.Login("new-ann", "password").Brief(200)
	in.Flush()
	texts := everyText(in)
	texts["the log"] = log.String()
	for where, text := range texts {
		if strings.Contains(servertest.Plain(text), secret) ||
			strings.Contains(text, ryHash[10:30]) {
			t.Errorf("%s has a hash", where)
		}
	}

	if len(texts) < 20 {
		t.Errorf("only %d texts", len(texts))
	}
}
