package e2e

import (
	"fmt"
	"net"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// maxMemory is what the program may take under any attack, all in all.
const maxMemory = 256 << 20

// besieged is a program with as few descriptors as a system gives by default, and
// somebody at another address who reads from it during an attack.
type besieged struct {
	*process
	*client
	reader  *wire
	request []byte
	calm    time.Duration // the reader's 99th percentile when nobody else asks anything
}

// besiege starts a program that has 1024 descriptors.
func besiege(t *testing.T, words ...string) *besieged {
	t.Helper()
	cmd := program(t, append([]string{"serve", "--listen", "127.0.0.1:0", "--data", t.TempDir()}, words...)...)
	cmd.Args = append([]string{"sh", "-c", `ulimit -n 1024 && exec "$0" "$@"`}, append([]string{binary}, cmd.Args[1:]...)...)
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh to limit descriptors with")
	}
	cmd.Path = shell
	b := &besieged{process: begin(t, cmd)}
	b.ready()
	b.client = signedIn(t, b.process)
	b.request = rawRequest(b.process, "/system/setting", b.token)
	conn, err := dialFrom(b.process, "127.0.0.9")
	if err != nil {
		t.Skipf("the loopback has one address: %v", err)
	}
	b.reader = newWire(conn)
	b.read(t, 100) // what is done once
	b.calm = b.read(t, size(400, 1000, 2000))
	return b
}

// dialFrom connects from an address of the loopback.
func dialFrom(p *process, addr string) (net.Conn, error) {
	d := net.Dialer{Timeout: patience, LocalAddr: &net.TCPAddr{IP: net.ParseIP(addr)}}
	return d.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
}

// read asks n times, two hundred times a second, and returns the 99th percentile.
func (b *besieged) read(t *testing.T, n int) time.Duration {
	t.Helper()
	took := make([]time.Duration, n)
	for i := range took {
		from := time.Now()
		if status, _, err := b.reader.ask(b.request); err != nil || status != 200 {
			t.Fatalf("an ordinary read is answered %d, %v", status, err)
		}
		took[i] = time.Since(from)
		<-time.After(5 * time.Millisecond)
	}
	slices.Sort(took)
	return took[n*99/100]
}

// endures runs attackers until ordinary reads have been measured beside them, and
// holds the program to what it promises meanwhile. Each attacker goes on until
// stop is closed.
func (b *besieged) endures(t *testing.T, attackers int, attack func(i int, stop <-chan struct{})) {
	t.Helper()
	stop := make(chan struct{})
	var p99 time.Duration
	var most int64
	var wg sync.WaitGroup
	before := b.anonymous()
	grown := b.grown(func() {
		for i := range attackers {
			wg.Go(func() { attack(i, stop) })
		}
		p99 = b.read(t, size(400, 2000, 10_000))
		close(stop)
		wg.Wait()
	})
	most = before + grown
	t.Logf("99 of 100 reads took %s undisturbed and %s during the attack; memory was %s at most", b.calm, p99, mib(most))
	// Both ends of the attack run on this machine: a turn of the scheduler is 10 ms.
	if p99 > 10*b.calm+20*time.Millisecond {
		t.Errorf("99 of 100 reads took %s during the attack, %s before it", p99, b.calm)
	}
	if most > maxMemory {
		t.Errorf("memory was %s, allowed are %s", mib(most), mib(maxMemory))
	}
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

// Large bodies that are slow to decode, from those who are signed in and from
// strangers, who are not heard.
func TestBodiesThatAreSlowToDecode(t *testing.T) {
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
		request := fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
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
				continue // it was cut off while it sent, which is an answer too
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
