package e2e

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"net"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// maxMemory is the maximum memory of the server under any attack, in total.
const maxMemory = 256 << 20

// besieged is a server with as few file descriptors as systems allow by default, and a
// reader at another address that measures it during an attack.
type besieged struct {
	*client
	process *process
	reader  *reader
	calm    time.Duration // 99th percentile of the reader without other load
	beside  *reader       // of a second server, which is not attacked
}

// reader sends ordinary reads to a server.
type reader struct {
	*wire
	request []byte
}

// besiege starts a server with 1024 file descriptors.
func besiege(t *testing.T, words ...string) *besieged {
	t.Helper()
	cmd := program(t,
		append([]string{"serve", "--listen", "127.0.0.1:0", "--data", t.TempDir()}, words...)...)
	cmd.Args = append([]string{"sh", "-c", `ulimit -n 1024 && exec "$0" "$@"`},
		append([]string{binary}, cmd.Args[1:]...)...)
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh to limit descriptors with")
	}

	cmd.Path = shell
	b := &besieged{process: begin(t, cmd)}
	b.process.ready()
	b.client = signedIn(t, b.process)
	b.reader = readerOf(t, b.process, b.token)
	other := start(t, t.TempDir())
	b.beside = readerOf(t, other, signedIn(t, other).token)
	b.read(t, 100) // warm up
	b.calm, _ = b.read(t, size(400, 500, 2000))
	return b
}

func readerOf(t *testing.T, p *process, token string) *reader {
	t.Helper()
	conn, err := dialFrom(p, "127.0.0.9")
	if err != nil {
		t.Skipf("the loopback has one address: %v", err)
	}
	return &reader{newWire(conn), rawRequest(p, "/system/setting", token)}
}

// dialFrom connects from a loopback address.
func dialFrom(p *process, addr string) (net.Conn, error) {
	d := net.Dialer{Timeout: patience, LocalAddr: &net.TCPAddr{IP: net.ParseIP(addr)}}
	return d.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
}

// read sends n requests, 200 per second, and as many to the server beside. It returns the 99th
// percentiles of their durations.
func (b *besieged) read(t *testing.T, n int) (here, beside time.Duration) {
	t.Helper()
	var took [2][]time.Duration
	for range n {
		for i, r := range []*reader{b.reader, b.beside} {
			from := time.Now()
			if status, _, err := r.ask(r.request); err != nil || status != 200 {
				logged := b.process.log.String()
				t.Fatalf("ordinary read %d of server %d is answered %d, %v; the end of the log:\n%s", n, i, status, err, logged[max(0, len(logged)-4096):])
			}
			took[i] = append(took[i], time.Since(from))
		}
		<-time.After(5 * time.Millisecond)
	}

	slices.Sort(took[0])
	slices.Sort(took[1])
	return took[0][n*99/100], took[1][n*99/100]
}

// endures runs attackers until ordinary reads have been measured, and checks the limits of
// latency and memory. Each attacker runs until stop is closed, which is not before
// what must happen has happened: on a busy machine an attack begins slowly.
func (b *besieged) endures(t *testing.T, attackers int, attack func(i int, stop <-chan struct{}),
	must ...func() bool) {
	t.Helper()
	stop := make(chan struct{})
	var p99, beside time.Duration
	var most int64
	var wg sync.WaitGroup
	before := b.process.anonymous()
	grown := b.process.grown(func() {
		for i := range attackers {
			wg.Go(func() { attack(i, stop) })
		}
		// What other programs on this machine do lasts for one measurement, not for three.
		for tries := 0; tries < 3 && (tries == 0 || p99 > b.allowed(beside)); tries++ {
			p99, beside = b.read(t, size(400, 800, 10_000))
		}
		for _, happened := range must {
			eventually(t, "the attack meets a limit", happened)
		}
		close(stop)
		wg.Wait()
	})
	most = before + grown
	t.Logf("99 of 100 reads took %s undisturbed, %s during the attack, and %s from a server beside; memory was %s at most", b.calm, p99, beside, mib(most))
	if p99 > b.allowed(beside) {
		t.Errorf("99 of 100 reads took %s during the attack, %s before it and %s from a server beside", p99, b.calm, beside)
	}
	if most > maxMemory {
		t.Errorf("memory was %s, allowed are %s", mib(most), mib(maxMemory))
	}
}

// allowed returns the maximum 99th percentile during an attack. Both ends of it run on this
// machine, perhaps with other programs, as the server beside feels: a scheduler time slice is 10
// ms.
func (b *besieged) allowed(beside time.Duration) time.Duration {
	return 10*max(b.calm, beside) + 20*time.Millisecond
}

// stopped reports whether stop is closed.
func stopped(stop <-chan struct{}) bool {
	select {
	case <-stop:
		return true
	default:
		return false
	}
}

// Large bodies that are slow to decode, from signed-in and from anonymous clients; the
// latter are rejected without decoding.
func TestSlowDecoding_OtherRequestsServed(t *testing.T) {
	b := besiege(t)
	key := strings.Repeat("k", 50_000)
	stranger := `{"` + key + `":[` + strings.Repeat("0,", 400_000) + `0]}`
	bodies := []string{
		`{"` + key + `":[` + strings.Repeat("0,", 9_000) + `0]}`,
		`{"` + key + `":[` + strings.Repeat("0,", 450_000) + `0]}`,
		`{"nickname":"` + strings.Repeat(`\u00e9`, 170_000) + `"}`,
		`{"` + strings.Repeat("k", 1_000_000) + `":{"a":1}}`,
	}

	const pause = 100 * time.Millisecond // or the machine is busy with sending
	var mu sync.Mutex
	answers := map[int]int{}
	b.endures(t, 24, func(i int, stop <-chan struct{}) {
		method, path, body, token := "PUT", "/admin/info", bodies[i%len(bodies)], b.token
		if i%2 == 0 {
			method, path, body, token = "POST", "/admin/login", stranger, ""
		}

		request := fmt.Appendf(nil,
			"%s %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
			method, path, token, len(body), body)
		for !stopped(stop) {
			w, err := dial(b.process)
			if err != nil {
				return
			}

			status, size, err := w.ask(request)
			w.conn.Close()
			<-time.After(pause)
			if err != nil {
				continue // disconnected while sending, which is a valid response
			}
			if status < 400 || status >= 500 && status != 503 || size > 4<<10 {
				t.Errorf("the attack is answered %d with %d bytes", status, size)
				return
			}

			mu.Lock()
			answers[status]++
			mu.Unlock()
		}
	})
	t.Logf("answers by status: %v", answers)
}

// Thousands of connections that send the beginning of a body and then nothing, from one
// address, with the default number of file descriptors.
func TestSlowBodies_DescriptorsRemain(t *testing.T) {
	b := besiege(t)
	connections := size(700, 2000, 2000)
	b.endures(t, 8, func(i int, stop <-chan struct{}) {
		var open []net.Conn
		defer func() {
			for _, conn := range open {
				conn.Close()
			}
		}()

		for n := 0; n < connections/8 && !stopped(stop); n++ {
			conn, err := dialFrom(b.process, "127.0.0.2")
			if err != nil {
				continue
			}
			open = append(open, conn)
			fmt.Fprintf(conn,
				"POST /admin/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 4000\r\n\r\n{")
		}

		<-stop
	}, func() bool { return b.limit("connections_rejected")+b.limit("bodies_rejected") > 0 })
	// A client at another address can open a new connection.
	conn, err := dialFrom(b.process, "127.0.0.3")
	if err != nil {
		t.Fatal(err)
	}

	w := newWire(conn)
	defer conn.Close()
	if status, _, err := w.ask(rawRequest(b.process, "/health", "")); err != nil || status != 200 {
		t.Errorf("health is answered %d, %v", status, err)
	}
}

// limit returns a figure of the health component for limits.
func (b *besieged) limit(figure string) int64 {
	b.t.Helper()
	out := into[struct {
		Parts []struct {
			Name    string
			Figures map[string]int64
		}
	}](b.t, b.want(200, "GET", "/system/health", ""))
	for _, part := range out.Parts {
		if part.Name == "limits" {
			return part.Figures[figure]
		}
	}
	b.t.Fatal("health does not name the limits")
	return 0
}

// Hundreds of uploads of one user that send a few bytes and then wait.
func TestSlowUploads_BoundedMemory(t *testing.T) {
	b := besiege(t)
	var answered atomic.Int64 // uploads that were rejected: the others are not complete
	head := formPart("slow") + strings.Repeat("x", 100_000)
	request := fmt.Appendf(nil,
		"POST /file/list HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: multipart/form-data; boundary=%s\r\nContent-Length: 10000000\r\n\r\n%s", b.token, boundary, head)
	b.endures(t, size(200, 400, 400), func(i int, stop <-chan struct{}) {
		conn, err := dialFrom(b.process, "127.0.0.2")
		if err != nil {
			return
		}
		defer conn.Close()
		conn.Write(request) // a rejected connection may be closed before
		go func() {
			<-stop
			conn.Close()
		}()
		conn.Read(make([]byte, 1)) // an answer, or the end of a rejected connection
		answered.Add(1)
		<-stop
	}, func() bool { return answered.Load() > 0 })
	if b.limit("uploads_rejected") == 0 {
		t.Errorf("no upload was rejected, %d ended: %s", answered.Load(),
			b.want(200, "GET", "/system/health", "").raw)
	}
}

// A picture of 6300 × 6300 pixels with 16 bits per channel, which would take 311 MiB.
func TestDeepPicture_NotDecoded(t *testing.T) {
	deep := deepPicture(t, 6300)
	modest := deepPicture(t, 2000)
	b := besiege(t)
	request := func(data []byte) []byte {
		form := formPart("deep.png") + string(data) + "\r\n" + formEnd
		return fmt.Appendf(nil,
			"POST /admin/avatar HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: multipart/form-data; boundary=%s\r\nContent-Length: %d\r\n\r\n%s",
			b.token, boundary, len(form), form)
	}
	requests := [][]byte{request(deep), request(modest)}
	var mu sync.Mutex
	answers := map[int]int{}
	b.endures(t, 8, func(i int, stop <-chan struct{}) {
		for !stopped(stop) {
			w, err := dial(b.process)
			if err != nil {
				return
			}

			status, _, err := w.ask(requests[i%2])
			w.conn.Close()
			if err != nil || i%2 == 0 && status != 422 && status != 429 ||
				i%2 == 1 && status != 200 && status != 429 && status != 503 {
				t.Errorf("the attack is answered %d, %v", status, err)
				return
			}

			mu.Lock()
			answers[status]++
			mu.Unlock()
			<-time.After(50 * time.Millisecond)
		}
	})
	t.Logf("answers by status: %v", answers)
}

// deepPicture is a png of side × side black pixels with 16 bits per channel.
func deepPicture(t *testing.T, side int) []byte {
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewNRGBA64(image.Rect(0, 0, side, side))); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Backups that no client reads: their number is limited, and other requests are served.
// That they time out after 30 seconds is tested elsewhere with a shorter limit.
func TestBackup_UnreadAreLimited(t *testing.T) {
	b := besiege(t)
	b.want(200, "PUT", "/system/setting", largeLimits)
	b.put("large", payload{1, 24 << 20})
	request := rawRequest(b.process, "/system/backup", b.token)
	b.endures(t, 20, func(i int, stop <-chan struct{}) {
		conn, err := dialFrom(b.process, "127.0.0.2")
		if err != nil {
			return
		}
		defer conn.Close()
		conn.Write(request) // and never read the response
		<-stop
	}, func() bool { return b.limit("backups_rejected") > 0 })
}
