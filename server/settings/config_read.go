package settings

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// ConfigRoutes let applications read their configuration: values of settings, and dictionaries.
func ConfigRoutes(reads *SecretReads) []web.Route {
	return []web.Route{
		configRoute("/config", "Read the configuration", reads, web.Options{
			Reveals:   true,
			Validates: true,
			ETag:      true,
			Note: "For applications. Without a token and for app users, it has the public setting " +
				"groups and the public dictionaries; for backend users and API keys, also groups " +
				"whose permission system.setting.read.<group> they have, and all enabled " +
				"dictionaries. An API key that has system.setting.secret.<group>, too, gets the " +
				"secrets of the group in the clear, and the change log says so; others find them " +
				"named in withheld. With wait and If-None-Match, the answer comes as soon as it is " +
				"another one. 403 names the permission that a group in groups needs; without a token " +
				"it is 401.",
		}),
	}
}

type configIn struct {
	Groups string `query:"groups" check:"max=2000" doc:"Keys of setting groups, separated by commas; absent for all that you may read"`
	Dicts  string `query:"dicts" check:"max=2000" doc:"Codes of dictionaries, separated by commas; * for all that you may read; absent for none"`
	Wait   int64  `query:"wait" check:"min=0,max=60" doc:"Seconds to wait, at most 60, until the response is another one than If-None-Match names; then 304"`
}

type configOut struct {
	Settings map[string]map[string]any `json:"settings" doc:"Values by group and key, decoded by type"`
	Withheld []string                  `json:"withheld" doc:"Secrets of these groups that you may not read, as group.key"`
	Dicts    map[string]store.OpenDict `json:"dicts" doc:"Enabled dictionaries with their enabled items, by code"`
}

// configRoute returns the route of readConfig.
func configRoute(path, title string, reads *SecretReads, options ...web.Options) web.Route {
	rt := web.NewRoute[configIn, web.Encoded[configOut]]("GET", path, web.AnyRealm, title)
	rt.Handler = web.HandlerName(readConfig)
	rt.View = func(tx *store.Tx, req *web.Request, out *web.Envelope) error {
		in := new(configIn)
		if err := req.Decode(rt.Input, in); err != nil {
			return err
		}
		return readConfig(tx, req, in, reads, out)
	}
	return rt.With(options...)
}

// configRead is a request for the configuration, with the response at present.
type configRead struct {
	req    *web.Request
	reads  *SecretReads
	wanted []string // keys of groups, sorted; nil for all
	codes  []string // codes of dictionaries, sorted
	all    bool     // all dictionaries

	groups  []*store.ConfigGroup
	secrets []*store.ConfigSecrets
	dicts   []*store.ConfigDict
	etag    string
	logged  []*secretReading // readings that this request has added to the change log
}

// readConfig responds from memory, unless the request waits for a change, or reads secrets whose
// reading must be added to the change log first.
func readConfig(tx *store.Tx, req *web.Request, in *configIn, reads *SecretReads,
	out *web.Envelope) error {
	c, err := newConfigRead(req, in, reads)
	if err == nil {
		err = c.choose(tx, req.Actor)
	}
	if err != nil {
		return err
	}

	current := c.isCurrent()
	switch {
	case current && in.Wait > 0:
		req.Rest = func(out *web.Envelope) error { return c.wait(in.Wait, out) }
		return nil
	case !current && !c.counted(tx.Now()):
		req.Rest = c.reveal
		return nil
	}

	return c.respond(tx, out)
}

func newConfigRead(req *web.Request, in *configIn, reads *SecretReads) (*configRead, error) {
	c, faults := &configRead{req: req, reads: reads, all: in.Dicts == "*"}, errs.Faults{}
	c.wanted = namesIn(in.Groups, "groups", faults)
	if !c.all {
		c.codes = namesIn(in.Dicts, "dicts", faults)
	}
	return c, faults.Err(errs.Malformed)
}

// maxNames is the maximum number of groups and of dictionaries that a request can name.
const maxNames = 100

// namesIn returns the names in a list separated by commas, sorted and each once; nil for an empty
// list.
func namesIn(list, field string, faults errs.Faults) (names []string) {
	if list == "" {
		return nil
	}

	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		if !web.Patterns["key"].Re.MatchString(name) {
			faults.Add(field, "must be keys separated by commas")
			return nil
		}
		names = append(names, name)
	}

	if len(names) > maxNames {
		faults.Add(field, "must be at most %d keys", maxNames)
	}

	slices.Sort(names)
	return slices.Compact(names)
}

// choose selects what an actor gets now.
func (c *configRead) choose(tx *store.Tx, actor *store.Actor) error {
	c.groups, c.secrets, c.dicts = c.groups[:0], nil, c.dicts[:0]
	if err := c.chooseGroups(tx, actor); err != nil {
		return err
	}

	for _, g := range c.groups {
		secrets, err := g.SecretsFor(tx, actor)
		if err != nil {
			return err
		}
		if secrets != nil {
			c.secrets = append(c.secrets, secrets)
		}
	}

	if c.all || c.codes != nil {
		if err := c.chooseDicts(tx, actor); err != nil {
			return err
		}
	}

	c.etag = store.ConfigTag(c.groups, c.secrets, c.dicts)
	return nil
}

func (c *configRead) chooseGroups(tx *store.Tx, actor *store.Actor) error {
	groups, err := store.SettingCache.Get(tx).Config()
	if err != nil {
		return err
	}

	for _, g := range groups {
		if c.wanted != nil && !slices.Contains(c.wanted, g.Key) {
			continue
		}
		if actor.ReadsGroup(tx, g) {
			c.groups = append(c.groups, g)
		}
	}

	if len(c.groups) == len(c.wanted) || c.wanted == nil {
		return nil
	}

	for _, key := range c.wanted {
		if !slices.ContainsFunc(c.groups, func(g *store.ConfigGroup) bool { return g.Key == key }) {
			return denied(actor,
				errs.New(errs.Denied, "permission %s is required", store.ReadPermission(key)))
		}
	}

	return nil
}

// denied returns the error of something that the actor may not read: without a token, a token is
// missing.
func denied(actor *store.Actor, otherwise error) error {
	if !actor.Known() {
		return errs.New(errs.Unauthenticated,
			"sign in: the header `Authorization: Bearer <token>` is missing")
	}
	return otherwise
}

// chooseDicts selects enabled dictionaries: for backend users and API keys all, for others the
// public ones.
func (c *configRead) chooseDicts(tx *store.Tx, actor *store.Actor) error {
	open, err := store.DictCache.Get(tx).Open()
	if err != nil {
		return err
	}
	if !actor.Known() || actor.App {
		open = open.Public
	}

	for i := range open.Each {
		if d := &open.Each[i]; c.all || slices.Contains(c.codes, d.Code) {
			c.dicts = append(c.dicts, d)
		}
	}

	if c.all || len(c.dicts) == len(c.codes) {
		return nil
	}

	for _, code := range c.codes {
		if !slices.ContainsFunc(c.dicts, func(d *store.ConfigDict) bool { return d.Code == code }) {
			return denied(actor,
				errs.Field(errs.Invalid, "dicts",
					"the dictionary %s does not exist, is disabled, or is not public", code))
		}
	}

	return nil
}

// isCurrent reports whether the client has the response already.
func (c *configRead) isCurrent() bool {
	return web.Matches(c.req.HTTP.Header.Get("If-None-Match"), c.etag)
}

// respond writes the response.
func (c *configRead) respond(tx *store.Tx, out *web.Envelope) error {
	h := c.req.Writer.Header()
	switch {
	case len(c.secrets) > 0:
		h["Cache-Control"] = web.NoStore
	case !c.req.Actor.Known():
		h["Cache-Control"] = web.PublicChecked
	default:
		h["Cache-Control"] = web.PrivateChecked
	}
	h["Vary"] = append(h["Vary"], web.VaryingByKey...)
	if out.ETag = c.etag; c.isCurrent() {
		return nil
	}
	return c.encode(tx, out)
}

func (c *configRead) encode(tx *store.Tx, out *web.Envelope) error {
	b := &out.Bytes
	var withheld []json.RawMessage
	secrets := c.secrets
	b.WriteString(`{"settings":{`)
	for i, g := range c.groups {
		hidden := g.Withheld
		writeKey(out, i, g.Key)
		if len(secrets) > 0 && secrets[0].Group == g {
			clear, err := secrets[0].AppendTo(tx, b.AvailableBuffer())
			if err != nil {
				return err
			}
			b.Write(clear)
			hidden, secrets = secrets[0].Withheld, secrets[1:]
		} else {
			b.Write(g.JSON)
		}
		if len(hidden) > 0 {
			withheld = append(withheld, hidden)
		}
	}

	b.WriteString(`},"withheld":[`)
	for i, names := range withheld {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(names)
	}

	b.WriteString(`],"dicts":{`)
	for i, d := range c.dicts {
		writeKey(out, i, d.Code)
		b.Write(d.JSON)
	}

	b.WriteString("}}")
	return nil
}

// writeKey writes the name of member i of an object. Keys of groups and codes of dictionaries are
// plain ASCII.
func writeKey(out *web.Envelope, i int, key string) {
	if i > 0 {
		out.Bytes.WriteByte(',')
	}
	out.Bytes.Write(append(strconv.AppendQuote(out.Bytes.AvailableBuffer(), key), ':'))
}
