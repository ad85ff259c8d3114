package servertest

import (
	"archive/zip"
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"reeve/server/people"
	"reeve/store"
)

// FilesOf returns the files of a downloaded zip.
func (in *Instance) FilesOf(url, as string) map[string]string {
	in.T.Helper()
	a := in.OK("GET", url, "", as)
	archive, err := zip.NewReader(bytes.NewReader([]byte(a.Body)), int64(len(a.Body)))
	Must(in.T, err)
	files := map[string]string{}
	for _, f := range archive.File {
		r, err := f.Open()
		Must(in.T, err)
		text, err := io.ReadAll(r)
		Must(in.T, err)
		files[f.Name] = string(text)
	}
	return files
}

// interrupted is a response that runs a function once, after the first bytes have been
// written.
type interrupted struct {
	http.ResponseWriter
	then func()
}

func (w *interrupted) Write(b []byte) (int, error) {
	n, err := w.ResponseWriter.Write(b)
	if then := w.then; then != nil {
		w.then = nil
		then()
	}
	return n, err
}

// Download reads a response over a connection and runs a function meanwhile. It returns
// the received bytes, the promised length (-1 if none) and the error at the end.
func (in *Instance) Download(path, as string,
	then func()) (body []byte, promised int64, err error) {
	in.T.Helper()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		in.Server.Handler().ServeHTTP(&interrupted{w, then}, r)
	}))
	defer web.Close()
	r, err := http.NewRequest("GET", web.URL+path, nil)
	Must(in.T, err)
	r.Header.Set("Authorization", "Bearer "+in.Tokens[as])
	a, err := http.DefaultTransport.RoundTrip(r)
	Must(in.T, err)
	defer a.Body.Close()
	if a.StatusCode != 200 {
		in.T.Fatalf("%s answers %d", path, a.StatusCode)
	}

	body, err = io.ReadAll(a.Body)
	return body, a.ContentLength, err
}

// Upload sends a file like a browser's form.
func (in *Instance) Upload(url, file, as string) *Reply {
	in.T.Helper()
	return in.Send(in.Form(url, file, as))
}

// Form builds the request that uploads a file.
func (in *Instance) Form(url, file, as string) *http.Request {
	in.T.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", "people.csv")
	Must(in.T, err)
	_, err = part.Write([]byte(file))
	Must(in.T, err)
	Must(in.T, form.Close())
	r := httptest.NewRequest("POST", url, &body)
	r.Header.Set("Content-Type", form.FormDataContentType())
	if token := in.Tokens[as]; token != "" {
		Authorize(r, token)
	}
	return r
}

// Late is a body that runs a function before it is read.
type Late struct {
	io.Reader
	First func()
}

func (l *Late) Read(b []byte) (int, error) {
	if first := l.First; first != nil {
		l.First = nil
		first()
	}
	return l.Reader.Read(b)
}

// Imported returns the counts of the response and the faults of each row.
func (in *Instance) Imported(file string) (created, failed int, rows []people.Verdict) {
	in.T.Helper()
	a := in.Upload("/admin/list-import?dry_run=1", file, "owner")
	var out people.ImportOut
	a.Brief(200)
	a.Data(&out)
	return out.Created, out.Failed, out.Rows
}

// WithOffice returns an instance with departments and roles whose names need quoting.
func WithOffice(t testing.TB, more func(in *Instance)) *Instance {
	in := Start(t)
	top := in.Dept("Head/Office", 0)
	in.Dept(`R\D`, top)
	in.Dept("Sales", top)
	in.Dept("Twin", 0)
	in.Dept("Twin", 0)
	in.Role("Editor; chief", nil)
	in.Role(`Back\slash`, nil)
	in.Role("Plain", nil)
	if more != nil {
		more(in)
	}
	return in
}

// Jobs returns the jobs, newest first.
func (in *Instance) Jobs(as string) []store.Job {
	in.T.Helper()
	var page struct{ Data []store.Job }
	in.OK("GET", "/system/job", "", as).Data(&page)
	return page.Data
}

// HeldUpload is heldImport with a file.
func (in *Instance) HeldUpload(url, file, as string, then func()) *Reply {
	in.T.Helper()
	in.Server.Jobs.Turn <- struct{}{} // another job is running
	var answer *Reply
	var wg sync.WaitGroup
	wg.Go(func() { answer = in.Upload(url, file, as) })
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		if jobs := in.Jobs("owner"); len(jobs) > 0 && jobs[0].State == store.JobRunning {
			break
		}
		if time.Now().After(end) {
			in.T.Fatal("the job was not stored")
		}
	}

	then()
	<-in.Server.Jobs.Turn
	wg.Wait()
	return answer
}
