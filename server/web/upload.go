package web

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"reflect"
	"sync/atomic"
	"time"

	"reeve/server/limit"
	"reeve/store/errs"
)

// Limits of a multipart body.
const (
	MaxFiles     = 100
	MaxFormField = 4 << 10  // bytes
	FormOverhead = 4 << 10  // maximum bytes around a single file: boundaries and headers
	maxEpilogue  = 4 << 10  // bytes after the form, which are ignored
	maxPartHead  = 64 << 10 // bytes of a part's header; package multipart would buffer ten MiB

	formBuffer = 64 << 10 // bytes read from the connection at once; multipart alone reads four KiB
)

// Form is a multipart body being received.
type Form struct {
	parts    *multipart.Reader
	part     *multipart.Part // the current one
	body     *patientBody
	buffered *bufio.Reader // reads body
	head     *partHead     // reads buffered; parts reads from it
	in       *Input
	value    reflect.Value // the input, whose form fields are set
	sent     map[string]bool
	named    []namedIDs
	files    int
}

// form starts to read the multipart body of a request. Form fields are stored in in.
func (req *Request) form(d *Input, in any) (*Form, error) {
	if err := req.Hold(req.Server.Limits.Uploads, 1,
		req.shares(MaxUploadsPerAddress, MaxUploadsPerUser)...); err != nil {
		return nil, err
	}

	body := newPatientBody(req)
	buffered := bufio.NewReaderSize(body, formBuffer)
	head := &partHead{Reader: buffered}
	req.HTTP.Body = struct {
		io.Reader
		io.Closer
	}{head, body}

	parts, err := req.HTTP.MultipartReader()
	if err != nil {
		return nil, errs.New(errs.BadMedia, "the body must be multipart/form-data with a file")
	}

	return &Form{
		parts:    parts,
		body:     body,
		buffered: buffered,
		head:     head,
		in:       d,
		value:    reflect.ValueOf(in).Elem(),
		sent:     map[string]bool{},
	}, nil
}

// Next returns the next file with the name it was sent with; nil at the end of the
// form. It sets the form fields on the way.
func (f *Form) Next() (name string, content io.Reader, err error) {
	for {
		part, err := f.nextPart()
		if err == io.EOF {
			return "", nil, f.ended()
		}
		if err != nil {
			return "", nil, uploadFault(err)
		}
		if part.FormName() != "file" {
			if err := f.set(part); err != nil {
				return "", nil, err
			}
			continue
		}
		if part.FileName() == "" {
			return "", nil, errs.Field(errs.Malformed, "file", "must be a file with a file name")
		}
		if f.files++; f.files > MaxFiles {
			return "", nil, errs.Field(errs.Malformed, "file", "must be at most %d files", MaxFiles)
		}

		return part.FileName(), uploadReader{f.body.req.idempotency.tee(part, part.FileName())}, nil
	}
}

// nextPart skips the rest of the current part and reads the header of the next one.
func (f *Form) nextPart() (*multipart.Part, error) {
	if f.part != nil {
		if _, err := io.Copy(io.Discard, f.part); err != nil {
			return nil, err
		}
	}
	f.head.limited, f.head.left = true, maxPartHead
	part, err := f.parts.NextRawPart()
	f.head.limited, f.part = false, part
	return part, err
}

// partHead limits the bytes that are read for a part's header.
type partHead struct {
	io.Reader
	limited bool
	left    int
}

func (h *partHead) Read(p []byte) (int, error) {
	if !h.limited {
		return h.Reader.Read(p)
	}
	if h.left <= 0 {
		return 0, errs.New(errs.TooLarge, "the header of a form part must be at most %d KiB",
			maxPartHead>>10)
	}
	n, err := h.Reader.Read(p[:min(len(p), h.left)])
	h.left -= n
	return n, err
}

// ended checks that the body ends after the form: a body that continues may have been
// meant as another form. The request is known now, so it may have been completed before.
func (f *Form) ended() error {
	n, err := io.Copy(io.Discard, io.LimitReader(f.buffered, maxEpilogue+1))
	switch {
	case err != nil:
		return uploadFault(err)
	case n > maxEpilogue:
		return errs.New(errs.Malformed, "the body continues after the end of the form")
	case f.files == 0:
		return errs.Field(errs.Malformed, "file", "is required")
	}
	if err := f.body.req.findNames(f.named); err != nil {
		return err
	}
	return f.body.req.seekCompleted()
}

// set sets a form field from a part that is not a file.
func (f *Form) set(part *multipart.Part) error {
	name := Truncate(part.FormName(), MaxLine)
	if name == "" {
		return errs.New(errs.Malformed, "a form part has no name or a malformed header")
	}

	field := f.in.Find("form", name)
	faults := errs.Faults{}
	switch {
	case field == nil:
		faults.Add(name, "unknown field")
	case f.sent[name]:
		faults.Add(name, "is given twice")
	case paired(field, f.sent):
		faults.Add(name, "conflicts with %s", cmp.Or(field.IDs, field.Names).Name)
	default:
		f.sent[name] = true
		text, err := io.ReadAll(io.LimitReader(part, MaxFormField+1))
		if err != nil {
			return uploadFault(err)
		}
		if f.body.req.idempotency.add([]byte(name), text); len(text) > MaxFormField {
			faults.Add(name, "is too long")
		} else if len(text) > 0 && field.IDs != nil {
			f.named = append(f.named, namedIDs{field, f.value,
				[]string{CheckText(field, string(text), name, faults)}, name})
		} else if len(text) > 0 {
			BindText(field, f.value, string(text), faults)
		}
	}

	return faults.Err(errs.Malformed)
}

// only returns the file of a form with exactly one file, after reading the whole form,
// whose fields are set then. The body may have at most maxBytes.
func (f *Form) only(maxBytes int64) ([]byte, error) {
	f.body.ReadCloser = http.MaxBytesReader(nil, f.body.ReadCloser, maxBytes)
	_, file, err := f.Next()
	if err != nil {
		return nil, err
	}

	data, err := f.whole(file, maxBytes)
	if errs.Is(err, errs.TooLarge) {
		err = errs.Field(errs.TooLarge, "file", "is too large: the form must be at most %d bytes",
			maxBytes)
	}
	if err != nil {
		return nil, err
	}

	switch _, more, err := f.Next(); {
	case err != nil:
		return nil, err
	case more != nil:
		return nil, errs.Field(errs.Malformed, "file", "is given twice")
	}

	return data, nil
}

// FormCost is the memory per byte of a file that is kept in memory: the file, and the
// text decoded from it.
const FormCost = 2

// whole reads a file of fewer than most bytes into memory, within the budget for bodies.
func (f *Form) whole(file io.Reader, most int64) ([]byte, error) {
	b := make([]byte, 0, 512)
	for {
		n, err := file.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err == io.EOF {
			return b, nil
		}
		if err == nil && len(b) == cap(b) {
			b, err = f.body.req.grow(b, most, FormCost)
		}
		if err != nil {
			return nil, err
		}
	}
}

// uploadReader converts read errors of the body to errors for the client.
type uploadReader struct{ r io.Reader }

func (u uploadReader) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	if err != nil && err != io.EOF {
		err = uploadFault(err)
	}
	return n, err
}

// Working returns a function that is called while a request is working, so that its response may begin
// later.
func (r *Request) Working() func() {
	control := http.NewResponseController(&r.Writer)
	var next atomic.Int64
	return func() {
		if now := time.Now(); now.UnixNano() > next.Load() {
			next.Store(now.Add(time.Second).UnixNano())
			control.SetWriteDeadline(now.Add(WriteTimeout)) // fails only without a connection, in a test
		}
	}
}

// patientBody is a body without a time limit, as long as it arrives at the minimum
// rate.
type patientBody struct {
	io.ReadCloser
	req  *Request
	pace *limit.Pace
}

func newPatientBody(req *Request) *patientBody {
	control := http.NewResponseController(&req.Writer)
	return &patientBody{req.HTTP.Body, req, limit.NewPace(req.Server.Grace, func(deadline time.Time) {
		control.SetReadDeadline(deadline) // SetReadDeadline fails only without a connection, in a test
		control.SetWriteDeadline(deadline.Add(WriteTimeout))
	})}
}

func (b *patientBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.pace.Passed(n)
	if limit.TooSlow(err) {
		b.req.Server.Limits.Rate.Count()
		err = errs.New(errs.Malformed,
			"the upload is too slow: %d KiB must arrive within %d seconds", limit.PaceBytes>>10,
			int(b.pace.Grace.Seconds())).Because(err)
	}
	return n, err
}

// uploadFault returns the error for a body that could not be read.
func uploadFault(err error) error {
	var tooLarge *http.MaxBytesError
	var known *errs.Error
	switch {
	case errors.As(err, &known):
		return err
	case errors.As(err, &tooLarge):
		return errs.New(errs.TooLarge, "the body must be at most %d bytes", tooLarge.Limit)
	}
	return errs.New(errs.Malformed, "the body could not be read completely").Because(err)
}
