package web

import (
	"reflect"

	"reeve/server/redact"
)

// Options are the deviations of a route from the default, which is the zero value.
type Options struct {
	AllowedBeforePasswordChange bool // usable while the password must be changed
	AllowedBeforeFactor         bool // usable while a second factor must be set up

	AlwaysServed bool // usable at a node that must not serve, and never waits: what it says need not be current

	AllowedForCommands bool // usable by commands on the machine, although every user may: it is about no account

	RequiresScopeAll  bool   // requires the data scope all, since the response cannot be limited to another
	Confirmed         bool   // requires that the user has just confirmed who it is
	Proves            bool   // the store requires that for usual inputs, though not for all
	Keys              keyUse // API keys that may use it
	KeyAccess         string // permission that API keys need instead of Access; "" for the same
	ExportAccess      string // permission that an export of the list needs, too; "" for none
	ClientCredentials bool   // keys may also be sent as the secret of a client of OAuth 2.0
	RateLimited       bool   // rejects wrong credentials and too many attempts
	Closable          bool   // a setting can close it

	MaxBody   int64         // maximum size of a JSON body in bytes; 0 for MaxBody. A body above it is a large one, see readBody
	MaxValues int           // maximum number of values in it; 0 for MaxValues
	AnyQuery  bool          // ignores parameters, which mail programs and trackers add to links
	Several   bool          // takes several files at once
	Selects   *ListInfo     // list whose parameters select the records
	SentBack  reflect.Type  // record whose other fields are ignored, so that it can be sent back as it was read
	Record    Record        // record that the route changes only if it is as the client has read it
	Hidden    redact.Fields // input fields that monitoring hides

	Note string // addition to the generated text of the OpenAPI document; "" for none

	ReadOnly     bool    // changes nothing, although it is no GET
	LoggedAs     string  // action that the change log has for every use; "" for none
	Unmonitored  bool    // not recorded in monitoring, except for 401 and 403
	Answers      Answers // responses of a raw route, for the OpenAPI document; nil for 200 only
	ETag         bool    // answers with an ETag, or 304
	Ranges       bool    // a part of its content can be requested
	Embeddable   bool    // pages of any origin may embed the response
	Reveals      bool    // the response has a secret: it is never stored, cached or recorded
	Resumes      bool    // continues at a position of the client, which may be gone
	Validates    bool    // rejects stored values, although it has no body
	MayBeMissing bool    // looks for something that may not exist, although its path names nothing
}

// SmallBody is a MaxBody that is enough for routes that are public or where every byte costs
// hashing.
const SmallBody = maxSmall

// Record declares the record that a route changes: see RecordOf and Stated.
type Record func(rt *Route)

// With returns the route with the options that are not zero.
func (rt Route) With(options ...Options) Route {
	own := reflect.ValueOf(&rt.Options).Elem()
	for _, o := range options {
		more := reflect.ValueOf(o)
		for i := range more.NumField() {
			if !more.Field(i).IsZero() {
				own.Field(i).Set(more.Field(i))
			}
		}
		if o.Record != nil {
			o.Record(&rt)
		}
		if o.SentBack != nil {
			rt.Input.ignore(o.SentBack)
		}
	}

	if anonymous.MatchString(rt.Handler) {
		rt.Handler = OperationID(&rt)
	}
	if rt.Confirmed && rt.KeyAccess == "" {
		rt.Keys = ByNoKey
	}
	if rt.Input != nil {
		rt.Input.Several = rt.Input.Several || rt.Several
		rt.Input.AnyQuery = rt.Input.AnyQuery || rt.AnyQuery
		if rt.Selects != nil {
			rt.Input.List = rt.Selects
		}
	}

	return rt
}
