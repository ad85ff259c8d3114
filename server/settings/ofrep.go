package settings

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/feature"
)

// Evaluation of feature flags for OpenFeature clients. Responses have variants, never rules, and a
// flag that the caller may not evaluate is the same as one that does not exist.
func FlagRoutes(streams *FlagStreams) []web.Route {
	return []web.Route{
		web.Following(&ofrep, "POST", "/ofrep/v1/evaluate/flags", web.AnyRealm, "Evaluate flags",
			streams.evaluateFlags, web.Options{
				ETag:     true,
				ReadOnly: true,
				Note: "OpenFeature Remote Evaluation Protocol: returns the values of all flags that you " +
					"may evaluate, never the rules. If-None-Match with the ETag of the last response " +
					"gives 304 while nothing has changed. eventStreams says where to be told of changes.",
			}),
		web.Following(&ofrep, "POST", "/ofrep/v1/evaluate/flags/:key", web.AnyRealm,
			"Evaluate a flag", streams.evaluateFlag, web.Options{
				ReadOnly: true,
				Note: "OpenFeature Remote Evaluation Protocol: returns a value, never the rules. Flags in " +
					"public groups can be evaluated without a token, others need the permission " +
					"system.setting.read.<group>; any other flag is FLAG_NOT_FOUND. Errors that concern " +
					"the request have the status 400.",
			}),
		streams.route(),
	}
}

// ofrep is the OpenFeature Remote Evaluation Protocol, version 0.3.0 of its OpenAPI document. It
// has 400 for everything that is wrong with a request.
var ofrep = web.Protocol{
	Name: "OFREP", Failed: reflect.TypeFor[OfrepFailure](), Failure: newOFREPFailure,
	Statuses: map[errs.Kind]int{errs.Invalid: 400, errs.TooLarge: 400, errs.BadMedia: 400},
}

// Limits of a context.
const (
	maxAttributes    = 100
	maxAttributeText = 255 // characters of a name or a text
	maxStatedRoles   = 100
)

type OfrepFailure struct {
	Key     string `json:"key,omitempty" doc:"Key of the flag; absent if the request is not about one"`
	Code    string `json:"errorCode" doc:"Code of the error: PARSE_ERROR, INVALID_CONTEXT, TARGETING_KEY_MISSING, FLAG_NOT_FOUND or GENERAL"`
	Details string `json:"errorDetails"`
}

func newOFREPFailure(req *web.Request, e *errs.Error, msg string) any {
	code := "GENERAL"
	switch {
	case errors.Is(e, feature.ErrNoKey):
		code = "TARGETING_KEY_MISSING"
	case e.Kind == errs.NotFound:
		code = "FLAG_NOT_FOUND"
	case e.Kind == errs.Invalid:
		code = "INVALID_CONTEXT"
	case e.Kind == errs.Malformed, e.Kind == errs.TooLarge, e.Kind == errs.BadMedia:
		code = "PARSE_ERROR"
	}
	return OfrepFailure{req.Params.ByName("key"), code, msg}
}

type flagsIn struct {
	Context map[string]any `json:"context" doc:"Whom and what the flags are evaluated for: targetingKey and attributes. It is ignored for sessions, whose identity is that of the user. Without a token and in a public group, identity attributes are ignored"`
}

type flagIn struct {
	Key string `path:"key" doc:"Key of the flag: group.key"`
	flagsIn
}

// FlagEvaluation is the result of a flag; in a response about many, it can be an error.
type FlagEvaluation struct {
	Key      string          `json:"key" doc:"Key of the flag: group.key"`
	Reason   string          `json:"reason,omitempty" doc:"Reason: STATIC, TARGETING_MATCH, SPLIT, DEFAULT or DISABLED"`
	Variant  string          `json:"variant,omitempty" doc:"Name of the variant"`
	Value    json.RawMessage `json:"value,omitempty" doc:"Value of the variant: a boolean, string, number or object"`
	Metadata *flagMetadata   `json:"metadata,omitempty" doc:"What you should know about the result"`
	Code     string          `json:"errorCode,omitempty" doc:"TARGETING_KEY_MISSING or PARSE_ERROR instead of a value, among several flags"`
	Details  string          `json:"errorDetails,omitempty" doc:"Details of the error"`
}

type flagMetadata struct {
	Warning string `json:"warning,omitempty" doc:"Why rules about users, roles and departments could not match: the API key has no such user in its data scope. Absent otherwise"`
}

type flagEvaluations struct {
	Flags        []FlagEvaluation  `json:"flags" doc:"The flags that you may evaluate, by key"`
	EventStreams []flagEventStream `json:"eventStreams" doc:"Streams that tell when to evaluate the flags again"`
}

func (fs *FlagStreams) evaluateFlag(req *web.Request, in *flagIn) (out *FlagEvaluation, err error) {
	var named mention
	defer func() { fs.note(req, named, err) }()
	return out, req.DB.View(req.Actor, func(tx *store.Tx) (err error) {
		var subject *feature.Subject
		subject, named, err = fs.subject(req, tx, in.Context)
		if err != nil {
			return err
		}
		f := store.SettingCache.Get(tx).Flag(in.Key)
		if f == nil || !f.MayEvaluate(tx, req.Actor) {
			return errs.New(errs.NotFound, "the flag does not exist, or you can't read it")
		}
		if out, err = evaluated(tx, f, subject); err == nil {
			out.warn(f, subject, req)
		}
		return err
	})
}

func (fs *FlagStreams) evaluateFlags(req *web.Request,
	in *flagsIn) (out web.Encoded[flagEvaluations], err error) {
	all := flagEvaluations{Flags: []FlagEvaluation{}}
	var named mention
	err = req.DB.View(req.Actor, func(tx *store.Tx) (err error) {
		var subject *feature.Subject
		subject, named, err = fs.subject(req, tx, in.Context)
		if err != nil {
			return err
		}

		flags := store.SettingCache.Get(tx).Flags()
		for i := range flags {
			f := &flags[i]
			if !f.MayEvaluate(tx, req.Actor) {
				continue
			}
			one, err := evaluated(tx, f, subject)
			if err == nil {
				one.warn(f, subject, req)
			} else {
				e := errs.Of(err)
				failed := newOFREPFailure(req, e, e.Msg.In(req.Language())).(OfrepFailure)
				one = &FlagEvaluation{Key: f.Key, Code: failed.Code, Details: failed.Details}
			}
			all.Flags = append(all.Flags, *one)
		}

		all.EventStreams = fs.streamOf(req, tx)
		return nil
	})
	if fs.note(req, named, err); err != nil {
		return out, err
	}

	out.JSON, err = json.Marshal(all)
	out.ETag = web.DigestTag(out.JSON)
	return out, err
}

// evaluated evaluates a flag. The error is for the caller.
func evaluated(tx *store.Tx, f *store.FlagSetting,
	subject *feature.Subject) (*FlagEvaluation, error) {
	if f.Flag == nil {
		return nil, errs.New(errs.Malformed, "the stored flag is not valid; save it again")
	}

	result, err := f.Flag.Evaluate(f.Key, subject, timeOf(tx.Now()))
	if err != nil {
		return nil, errs.New(errs.Malformed,
			"this flag is decided by a percentage, which requires a targetingKey in the context").Because(err)
	}

	return &FlagEvaluation{
		Key:      f.Key,
		Reason:   result.Reason,
		Variant:  result.Variant,
		Value:    result.Value,
		Metadata: &flagMetadata{},
	}, nil
}

// warn says in the result if the targeting key is that of a user whom the caller, an API key, does
// not see, so that rules about users could not match although the key names one.
func (f *FlagEvaluation) warn(of *store.FlagSetting, s *feature.Subject, req *web.Request) {
	_, names := store.ParseSubject(s.Key)
	unseen := names && req.Actor.Key != nil && s.User == 0 && s.AppUser == 0 &&
		len(s.Roles)+len(s.Depts) == 0
	if unseen && of.Flag.Enabled && of.Flag.Identifies() {
		f.Metadata.Warning = errs.Say("%s is no enabled user in the data scope of this API key, so that rules about users, roles and departments do not match; give the key a larger data scope, or state user_id", s.Key).In(req.Language())
	}
}

func timeOf(t store.Time) time.Time { return time.UnixMicro(int64(t)).UTC() }

// note remembers a user whom the caller, an API key, has named in an evaluation that has succeeded.
func (fs *FlagStreams) note(req *web.Request, named mention, err error) {
	if err == nil && named.who.ID != 0 {
		fs.named.note(req.Actor.Key.ID, named)
	}
}

// subject returns whom flags are evaluated for. Of a session, it is the user as stored,
// whatever the context says. An API key states it; a user in its data scope is taken as stored.
// Anybody else has no identity.
func (fs *FlagStreams) subject(req *web.Request, tx *store.Tx,
	context map[string]any) (s *feature.Subject, named mention, err error) {
	if a := req.Actor; a.Key == nil && a.ID != 0 {
		s, err = store.FlagSubject(tx, a)
		return s, named, err
	}

	s, err = statedSubject(context)
	if err != nil || req.Actor.Key == nil {
		return s, named, err
	}

	account, ok := store.ParseSubject(s.Key)
	if !ok {
		return s, named, statedIdentity(tx, s, context)
	}
	known, err := store.KnownSubject(tx, account)
	if err == nil {
		named, err = fs.named.mentionOf(account, known)
	}
	if err != nil {
		return nil, named, err
	}
	if known == nil {
		return s, named, statedIdentity(tx, s, context)
	}
	for name, text := range s.Attributes {
		if _, own := known.Attributes[name]; !own {
			known.Attributes[name] = text
		}
	}
	return known, named, nil
}

// identity are the attributes that only API keys can state.
var identity = []string{"user_id", "username", "roles", "dept_id", "realm"}

// statedSubject reads the targeting key and the attributes of a context, without the identity.
// Objects, arrays and null match nothing and are ignored.
func statedSubject(context map[string]any) (*feature.Subject, error) {
	s := &feature.Subject{Attributes: map[string]string{}}
	if key, sent := context["targetingKey"]; sent && key != nil {
		text, ok := key.(string)
		if !ok || utf8.RuneCountInString(text) > maxAttributeText {
			return nil, errs.Field(errs.Invalid, "context",
				"targetingKey must be a string of at most %d characters", maxAttributeText)
		}
		s.Key = text
	}

	tooMany := errs.Field(errs.Invalid, "context",
		"the context must have at most %d attributes with names and texts of at most %d characters", maxAttributes, maxAttributeText)
	if len(context) > maxAttributes {
		return nil, tooMany
	}

	for name, value := range context {
		text, ok := feature.Text(value)
		if utf8.RuneCountInString(name) > maxAttributeText ||
			utf8.RuneCountInString(text) > maxAttributeText {
			return nil, tooMany
		}
		if ok && name != "targetingKey" && !slices.Contains(identity, name) {
			s.Attributes[name] = text
		}
	}

	return s, nil
}

// statedIdentity adds the identity that an API key states for a user without a record.
func statedIdentity(tx *store.Tx, s *feature.Subject, context map[string]any) error {
	for _, name := range []string{"username", "realm"} {
		if text, ok := feature.Text(context[name]); ok {
			s.Attributes[name] = text
		}
	}

	ids := map[string]store.ID{}
	for _, name := range []string{"user_id", "dept_id"} {
		if context[name] == nil {
			continue
		}
		id, err := web.ParseID(string(web.NumberIn(context[name])))
		if err != nil {
			return errs.Field(errs.Invalid, "context", "%s must be an ID", name)
		}
		ids[name] = id
	}

	var roles []string
	if context["roles"] != nil {
		wrong := errs.Field(errs.Invalid, "context",
			"%s must be an array of at most %d IDs or names", "roles", maxStatedRoles)
		list, ok := context["roles"].([]any)
		if !ok || len(list) > maxStatedRoles {
			return wrong
		}

		for _, element := range list {
			text, ok := element.(string)
			if number, isNumber := element.(json.Number); isNumber {
				_, err := strconv.ParseUint(string(number), 10, 63)
				text, ok = string(number), err == nil
			}
			if !ok {
				return wrong
			}
			roles = append(roles, text)
		}
	}

	s.User = uint64(ids["user_id"])
	store.StatedIdentity(tx, s, roles, ids["dept_id"])
	return nil
}
