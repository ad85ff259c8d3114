package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// BenchmarkKeys compares reads and a permission check that an API key authenticates with the bare
// server, and the read with the same one of a session, alternately under the same load. p99 is that
// of checks at half of the rate that the server can answer.
func BenchmarkKeys(b *testing.B) {
	p := start(b, b.TempDir())
	c := signedIn(b, p)
	c.want(200, "PUT", "/system/setting", `{"values":{"security.key_rate_limit":100000000}}`)
	var role struct{ ID int }
	benchData(b, c.want(200, "POST", "/admin/role", `{"name":"Programs","data_scope":"all"}`),
		&role)
	var rules struct{ Data []ruleNode }
	benchData(b, c.want(200, "GET", "/admin/rule", ""), &rules)
	ids, err := json.Marshal(rulesNamed(rules.Data, "auth.check", "system.setting.query",
		"system.setting.read.site"))
	if err != nil {
		b.Fatal(err)
	}

	c.want(200, "PUT", fmt.Sprintf("/admin/role/%d/rule", role.ID),
		fmt.Sprintf(`{"rule_ids":%s}`, ids))
	var key struct{ Token string }
	benchData(b,
		c.want(200, "POST", "/admin/key", fmt.Sprintf(`{"name":"bench","role_ids":[%d]}`, role.ID)), &key)
	body := fmt.Sprintf(`{"token":%q,"permissions":["system.setting.query"]}`, c.token)
	read := c.want(200, "GET", "/system/setting", "").raw
	check := c.want(200, "POST", "/auth/check", body).raw
	const configPath = "/config?groups=site"
	keyed := newClient(b, p)
	keyed.token = key.Token
	config := keyed.want(200, "GET", configPath, "").raw
	ceiling := startBare(b, read, check, config)
	b.Run("read", func(b *testing.B) {
		session := &target{
			process: p,
			request: rawRequest(p, "/system/setting", c.token),
			size:    len(read),
		}

		withKey := &target{
			process: p,
			request: rawRequest(p, "/system/setting", key.Token),
			size:    len(read),
		}

		limit := &target{process: ceiling, request: rawRequest(ceiling, "/0", ""), size: len(read)}
		for b.Loop() {
			compare(b, session, withKey, limit)
		}

		b.ReportMetric(median(quotients(withKey.rates, session.rates)), "key/session")
		b.ReportMetric(median(quotients(session.costs, withKey.costs)), "cpu-key/session")
		b.ReportMetric(median(quotients(withKey.rates, limit.rates)), "key/bare")
	})
	b.Run("config", func(b *testing.B) {
		reeve := &target{
			process: p,
			request: rawRequest(p, configPath, key.Token),
			size:    len(config),
		}
		limit := &target{process: ceiling, request: rawRequest(ceiling, "/2", ""),
			size: len(config)}
		for b.Loop() {
			compare(b, reeve, limit)
		}
		b.ReportMetric(median(quotients(reeve.rates, limit.rates)), "ratio")
	})
	b.Run("check", func(b *testing.B) {
		reeve := &target{
			process: p,
			request: authorizedPost(p, "/auth/check", key.Token, body),
			size:    len(check),
		}

		limit := &target{
			process: ceiling,
			request: authorizedPost(ceiling, "/1", "", body),
			size:    len(check),
		}
		for b.Loop() {
			compare(b, reeve, limit)
		}

		b.ReportMetric(median(quotients(reeve.rates, limit.rates)), "ratio")
		b.ReportMetric(median(reeve.rates), "req/s")
		b.ReportMetric(median(reeve.costs), "cpu-µs/req")
		b.ReportMetric(median(limit.costs), "bare-cpu-µs/req")
		b.ReportMetric(float64(paced(b, reeve, median(reeve.rates)/2).Microseconds()), "p99-µs")
	})
}

func benchData(b *testing.B, a *answer, into any) {
	b.Helper()
	if err := json.Unmarshal(a.Data, into); err != nil {
		b.Fatal(err)
	}
}

type ruleNode struct {
	ID       int
	Key      string
	Children []ruleNode
}

// rulesNamed returns the IDs of permissions in a tree.
func rulesNamed(nodes []ruleNode, keys ...string) (ids []int) {
	for _, n := range nodes {
		if slices.Contains(keys, n.Key) {
			ids = append(ids, n.ID)
		}
		ids = append(ids, rulesNamed(n.Children, keys...)...)
	}
	return ids
}

// authorizedPost returns the bytes of a request with a JSON body.
func authorizedPost(p *process, path, token, body string) []byte {
	auth := ""
	if token != "" {
		auth = "Authorization: Bearer " + token + "\r\n"
	}
	return fmt.Appendf(nil,
		"POST %s HTTP/1.1\r\nHost: %s\r\n%sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		path, strings.TrimPrefix(p.url, "http://"), auth, len(body), body)
}

// paced sends requests on four connections at a rate for two seconds, and returns the 99th
// percentile of the times until the response.
func paced(b *testing.B, t *target, perSecond float64) time.Duration {
	const clients = 4
	pause := time.Duration(clients * float64(time.Second) / perSecond)
	var mu sync.Mutex
	var all []time.Duration
	var wg sync.WaitGroup
	for range clients {
		w, err := dial(t.process)
		if err != nil {
			b.Fatal(err)
		}
		wg.Go(func() {
			defer w.conn.Close()
			var took []time.Duration
			next := time.Now()
			for end := next.Add(2 * time.Second); next.Before(end); next = next.Add(pause) {
				time.Sleep(time.Until(next))
				from := time.Now()
				if status, _, err := w.ask(t.request); err != nil || status != 200 {
					b.Errorf("%d (%v)", status, err)
					break
				}
				took = append(took, time.Since(from))
			}

			mu.Lock()
			defer mu.Unlock()
			all = append(all, took...)
		})
	}

	wg.Wait()
	slices.Sort(all)
	return all[len(all)*99/100]
}
