package servertest

import (
	"net/http"
	"regexp"

	"github.com/google/go-cmp/cmp"
)

// Patterns of values that differ from run to run, with their replacements.
var volatile = []struct {
	is     *regexp.Regexp
	stands string
}{
	{Moment, SomeMoment},
	{regexp.MustCompile(`"rv_[A-Za-z0-9_-]{49}"`), `"rv_…"`},
	{regexp.MustCompile(`"rv_k_[A-Za-z0-9_-]{49}"`), `"rv_k_…"`},
	{regexp.MustCompile(`rv_c_[A-Za-z0-9_-]{49,}`), `rv_c_…`},
	{regexp.MustCompile(`"rv_([pm])_[A-Za-z0-9_-]{49,}"`), `"rv_${1}_…"`},
	{regexp.MustCompile(`"hint":"rv_k_[A-Za-z0-9_-]{4}"`), `"hint":"rv_k_…"`},
	{regexp.MustCompile(`"whsec_[A-Za-z0-9+/=]{44}"`), `"whsec_…"`},
	{regexp.MustCompile(`"test-[0-9a-f]{12}-[0-9a-z]+"`), `"test-…"`},
	{regexp.MustCompile(`timestamp\\":\\"[^\\]+`), `timestamp\":\"…`},
	{regexp.MustCompile(`"requestId":"[0-9a-f]{12}-[0-9a-z]+"`), `"requestId":"…"`},
	{regexp.MustCompile(`"event_id":"[a-z0-9]{10}-`), `"event_id":"…-`},
	{regexp.MustCompile(`/media/[A-Z2-7]{26}`), `/media/…`},
	{regexp.MustCompile(`key":"[A-Z2-7]{26}"`), `key":"…"`},
	{regexp.MustCompile(`expires=[0-9]+(.{1,6})session=1.{1,6}signature=[A-Za-z0-9_-]{43}`),
		`expires=…${1}session=1${1}signature=…`},
	{regexp.MustCompile(`"id":[0-9]{16}`), `"id":1795000000000000`},
	{regexp.MustCompile(`"request_id":"[0-9a-f]{12}-[0-9a-z]+"`), `"request_id":"…"`},
	{regexp.MustCompile(`_ms":[0-9.]+`), `_ms":0`},
	{regexp.MustCompile(`"bytes":[0-9]+(,"dropped_events")`), `"bytes":0$1`}, // of monitor.db, which is written in batches
	{regexp.MustCompile(`"bytes_out":[0-9]+`), `"bytes_out":0`},
	{regexp.MustCompile(`"host_name":"[^"]*"`), `"host_name":"…"`},
	{regexp.MustCompile(`"caller":"([^"]*):[0-9]+"`), `"caller":"$1:0"`},
	{regexp.MustCompile(`"took_ms":[0-9.]+`), `"took_ms":0`},
	{regexp.MustCompile(`"(\w+_bytes|\w+_seconds|queued_requests|moved_ms|cpus|goroutines)":-?[0-9]+`), `"$1":0`},
	{regexp.MustCompile(`"(go|platform)":"[^"]+"`), `"$1":"…"`},
	{regexp.MustCompile(`[0-9-]{10}T[0-9:.]+Z( 被更改|; reload)`), `…$1`},
	{regexp.MustCompile(`"change_log":\{[^}]*\}`), `"change_log":{}`},
	{regexp.MustCompile(`tgz","size":[0-9]+,"sha256":"[0-9a-f]{64}"`),
		`tgz","size":0,"sha256":"…"`},
	{regexp.MustCompile(`/link/rv_l_[A-Za-z0-9_-]{49}`), `/link/…`},
	{regexp.MustCompile(`[0-9]{1,2} [A-Z][a-z]+ [0-9]{4}, [0-9:]{5} UTC`), `… UTC`},
	{regexp.MustCompile(`"free_mib":[0-9]+`), `"free_mib":0`},
	{regexp.MustCompile(`"(challenge|signature)":"[0-9a-f]{64}"`), `"$1":"…"`},
	{regexp.MustCompile(`"salt":"[0-9a-f]{32}\?expires=[0-9]{10}(&|\\u0026)"`),
		`"salt":"…?expires=1795000000&"`},
	{regexp.MustCompile(`"[a-z2-7]{4}(-[a-z2-7]{4}){3}"`), `"…"`},
	{regexp.MustCompile(`"(credential_id|public_key)":"[A-Za-z0-9_+/=-]+"`), `"$1":"…"`},
	{regexp.MustCompile(`"hashes":\["[0-9a-f",]+\]`), `"hashes":[]`},
	{regexp.MustCompile(`"challenge":"[A-Za-z0-9_-]{75}"`), `"challenge":"…"`},
	{regexp.MustCompile(`(secret=|"secret":")[A-Z2-7]{32}`), `${1}…`},
	{regexp.MustCompile(`[0-9]+ MiB are free`), `… MiB are free`},
}

// Steady replaces what differs from run to run in a response, such as times and tokens.
func Steady(body string) string {
	for _, v := range volatile {
		body = v.is.ReplaceAllString(body, v.stands)
	}
	return body
}

// Moment matches a time in JSON.
var Moment = regexp.MustCompile(`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z"`)

// SomeMoment is a time in JSON.
const SomeMoment = `"2025-05-08T03:04:05.000000Z"`

func oneMoment(body string) string { return Moment.ReplaceAllString(body, SomeMoment) }

// Is checks the data of a response, in which SomeMoment stands for any time.
func (a *Reply) Is(want string) {
	a.T.Helper()
	if diff := cmp.Diff(want+"\n", oneMoment(a.Body)); a.Code != http.StatusOK || diff != "" {
		a.T.Errorf("%s: %d (- want, + got):\n%s", a.Sent, a.Code, diff)
	}
}
