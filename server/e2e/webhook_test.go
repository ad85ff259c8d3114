package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// allowLocal lets webhooks reach receivers of these tests.
const allowLocal = "REEVE_WEBHOOKS__ALLOW=127.0.0.1"

// receiver is a receiver of webhooks that keeps what has arrived.
type receiver struct {
	t        testing.TB
	url      string
	mu       sync.Mutex
	verifier *standardwebhooks.Webhook
	ids      map[string]bool // of messages
	seqs     []uint64        // of their entries in the change log, in the order of their first arrival
	all      int             // messages, also those that arrived again
}

func newReceiver(t testing.TB) *receiver {
	r := &receiver{t: t, ids: map[string]bool{}}
	web := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		if err != nil {
			return // the sender was killed
		}

		r.mu.Lock()
		defer r.mu.Unlock()
		var m struct {
			Data struct {
				Seq uint64
			}
		}
		id := q.Header.Get("webhook-id")
		if r.verifier != nil && r.verifier.Verify(body, q.Header) != nil ||
			json.Unmarshal(body, &m) != nil {
			t.Errorf("message %s: the signature or the body is wrong: %s", id, body)
		}
		if r.all++; !r.ids[id] {
			r.ids[id], r.seqs = true, append(r.seqs, m.Data.Seq)
		}
	}))
	t.Cleanup(web.Close)
	r.url = web.URL
	return r
}

func (r *receiver) arrived() (seqs []uint64, all int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.seqs), r.all
}

// createWebhook creates a webhook to a receiver.
func (c *client) createWebhook(r *receiver, types string) {
	a := c.want(http.StatusOK, "POST", "/system/webhook",
		fmt.Sprintf(`{"url":%q,"types":[%q]}`, r.url, types))
	var out struct{ Secret string }
	if err := json.Unmarshal(a.Data, &out); err != nil {
		r.t.Fatal(err)
	}
	verifier, err := standardwebhooks.NewWebhook(out.Secret)
	if err != nil {
		r.t.Fatal(err)
	}
	r.mu.Lock()
	r.verifier = verifier
	r.mu.Unlock()
}

// dictEntries returns the numbers of all entries of dictionaries in the change log, ascending.
func (c *client) dictEntries(t testing.TB) (seqs []uint64) {
	for next := uint64(0); ; {
		query := "/system/audit?collection=dict&pageSize=1000"
		if next != 0 {
			query += fmt.Sprint("&before=", next)
		}

		var page struct {
			Data []struct{ Seq uint64 }
			Next uint64
		}
		if err := json.Unmarshal(c.want(http.StatusOK, "GET", query, "").Data, &page); err != nil {
			t.Fatal(err)
		}

		for _, e := range page.Data {
			seqs = append(seqs, e.Seq)
		}

		if next = page.Next; next == 0 {
			slices.Reverse(seqs)
			return seqs
		}
	}
}

// However often the server is killed, a receiver gets exactly the changes that the change log has,
// in order; some of them twice.
func TestWebhook_SurvivesKills(t *testing.T) {
	t.Parallel()
	dir, r := t.TempDir(), newReceiver(t)
	token, sent, rounds := "", 0, size(3, 12, 300)
	begin := func() (*process, *client) {
		p := start(t, dir, allowLocal)
		c := newClient(t, p)
		if c.token = token; token == "" {
			c.signIn(password)
			token = c.token
			c.createWebhook(r, "dict.*")
		}
		return p, c
	}
	for round := range rounds {
		p, c := begin()
		killed := make(chan struct{})
		go func() {
			defer close(killed)
			time.Sleep(time.Duration(20+37*round%300) * time.Millisecond)
			p.kill()
		}()

		for {
			if _, err := c.do("POST", "/system/dict",
				fmt.Sprintf(`{"code":"c%d","name":"%d"}`, sent, sent)); err != nil {
				break
			}
			sent++
		}

		sent++ // that one may have been stored
		<-killed
	}

	_, c := begin()
	want := c.dictEntries(t)
	late, last := time.Now().Add(patience), 0
	for ; ; time.Sleep(10 * time.Millisecond) {
		got, all := r.arrived()
		if len(got) > last { // as long as more arrive, they may take their time
			late, last = time.Now().Add(patience), len(got)
		}
		if slices.Equal(got, want) {
			t.Logf("%d kills: %d changes, %d of the messages arrived again", rounds, len(want),
				all-len(got))
			if len(want) < rounds {
				t.Errorf("only %d changes", len(want))
			}
			return
		}
		if time.Now().After(late) {
			t.Fatalf("%d entries arrived, want %d: %s", len(got), len(want), firstOther(got, want))
		}
	}
}

// firstOther describes the first place at which lists differ.
func firstOther(got, want []uint64) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("number %d is %d, want %d", i, got[i], want[i])
		}
	}
	return fmt.Sprintf("the first %d are the same", min(len(got), len(want)))
}
