package store

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"slices"
	"sort"
	"strconv"
)

// The content of GET /config is encoded once for each snapshot of the caches, by group and by
// dictionary. A response puts together the parts that its caller may read.

// ConfigGroup is a group of settings as programs read it.
type ConfigGroup struct {
	ID       ID
	Key      string
	Public   bool
	Read     string          // see ReadPermission
	JSON     json.RawMessage // values by key, without secrets
	Withheld json.RawMessage // "group.key" of every secret, quoted and separated by commas

	secret  string // see SecretPermission
	secrets []configSecret
	tag     [12]byte
}

// configSecret is a secret setting.
type configSecret struct {
	id      ID
	key     string
	builtin bool // setting of the program itself, which no one reads
}

// ConfigDict is an enabled dictionary as programs read it.
type ConfigDict struct {
	Code   string
	Public bool
	JSON   json.RawMessage // an OpenDict
	tag    [12]byte
}

// otherwiseRead are the types of settings that programs read in another way: their values are
// neither in GET /config nor in GET /api/home.
var otherwiseRead = []string{"flag"}

// forPrograms reports whether programs read the value of a setting with GET /config.
func forPrograms(s *Setting) bool { return !slices.Contains(otherwiseRead, s.Type) }

// config computes Config.
func (c *SettingSet) config() ([]*ConfigGroup, error) {
	byID, values := map[ID]*ConfigGroup{}, map[ID]map[string]any{}
	groups := make([]*ConfigGroup, 0, len(c.Groups))
	for _, row := range c.Groups {
		key := row.Value.Key
		g := &ConfigGroup{
			ID:     row.ID,
			Key:    key,
			Public: bool(row.Value.Public),
			Read:   ReadPermission(key),
			secret: SecretPermission(key),
		}
		groups, byID[g.ID], values[g.ID] = append(groups, g), g, map[string]any{}
	}

	for _, row := range c.Settings {
		s := row.Value
		switch g := byID[s.GroupID]; {
		case !forPrograms(s):
		case s.Type == "secret":
			g.secrets = append(g.secrets,
				configSecret{row.ID, s.Key, builtinOf(g.Key, s.Key) != nil})
		default:
			values[g.ID][s.Key] = settingValue(s)
		}
	}

	for _, g := range groups {
		var err error
		if g.JSON, err = json.Marshal(values[g.ID]); err != nil {
			return nil, err
		}
		sort.Slice(g.secrets, func(i, j int) bool { return g.secrets[i].key < g.secrets[j].key })
		g.Withheld = g.names(g.secrets)
		g.tag = contentTag([]byte(g.Key), g.JSON, g.Withheld)
	}

	return groups, nil
}

// names returns the full names of secrets, quoted and separated by commas.
func (g *ConfigGroup) names(secrets []configSecret) (list json.RawMessage) {
	for i, s := range secrets {
		if i > 0 {
			list = append(list, ',')
		}
		list = strconv.AppendQuote(list, g.Key+"."+s.key) // keys are plain ASCII
	}
	return list
}

// contentTag returns a hash of texts.
func contentTag(texts ...[]byte) (tag [12]byte) {
	h := sha256.New()
	for _, text := range texts {
		h.Write(strconv.AppendInt(nil, int64(len(text)), 10)) // a hash never fails
		h.Write([]byte{':'})
		h.Write(text)
	}
	copy(tag[:], h.Sum(nil))
	return tag
}

// ReadsGroup reports whether an actor may read the values of a group.
func (a *Actor) ReadsGroup(tx *Tx, g *ConfigGroup) bool {
	return g.Public || a.HasPermission(tx, g.Read)
}

// ConfigSecrets are the secrets of a group that an API key may read, as stored.
type ConfigSecrets struct {
	Group    *ConfigGroup
	Version  string // another one after any change of them; it does not depend on their values
	Withheld json.RawMessage

	given   []configSecret
	records []*SettingSecret // record of each given one; nil for one without a value
}

// SecretsFor returns the secrets of a group that an actor may read in the clear: only API keys may,
// with a permission of their own, and no one reads those of the program itself. It returns nil if
// there are none.
func (g *ConfigGroup) SecretsFor(tx *Tx, a *Actor) (*ConfigSecrets, error) {
	if a.Key == nil || len(g.secrets) == 0 || !a.HasPermission(tx, g.secret) {
		return nil, nil
	}

	out := &ConfigSecrets{Group: g}
	var hidden []configSecret
	version := []byte(g.Key)
	for _, s := range g.secrets {
		if s.builtin {
			hidden = append(hidden, s)
			continue
		}
		// The value and its version are of the same view, which may be older than the cache.
		record, err := storedSecret(tx, s.id)
		if err != nil {
			return nil, err
		}

		out.given, out.records = append(out.given, s), append(out.records, record)
		version = append(strconv.AppendUint(append(version, ' '), uint64(s.id), 10), s.key...)
		if record != nil {
			version = strconv.AppendInt(append(strconv.AppendUint(append(version, ' '),
				uint64(record.ID), 10), '@'), int64(record.CreatedAt), 10)
		}
	}

	if len(out.given) == 0 {
		return nil, nil
	}

	tag := contentTag(version)
	out.Version, out.Withheld = hex.EncodeToString(tag[:]), g.names(hidden)
	return out, nil
}

// storedSecret returns the stored secret of a setting; nil for none.
func storedSecret(tx *Tx, setting ID) (*SettingSecret, error) {
	for secret, err := range SecretBySetting.All(tx, setting) {
		return secret, err
	}
	return nil, nil
}

// Keys returns the keys of the settings.
func (s *ConfigSecrets) Keys() []string {
	keys := make([]string, len(s.given))
	for i, given := range s.given {
		keys[i] = given.key
	}
	return keys
}

// AppendTo decrypts the secrets and adds them to the JSON of the group, which it returns.
func (s *ConfigSecrets) AppendTo(tx *Tx, to json.RawMessage) (json.RawMessage, error) {
	to = append(to, s.Group.JSON[:len(s.Group.JSON)-1]...)
	for i, given := range s.given {
		plain := ""
		if s.records[i] != nil {
			var err error
			if plain, err = tx.Unseal(secretPlace(given.id), s.records[i].Sealed); err != nil {
				return nil, err
			}
		}

		value, err := json.Marshal(plain)
		if err != nil {
			return nil, err
		}
		if to[len(to)-1] != '{' {
			to = append(to, ',')
		}

		to = append(append(strconv.AppendQuote(to, given.key), ':'), value...)
	}
	return append(to, '}'), nil
}

// ConfigTag returns the entity tag of a response with these groups, dictionaries and secrets. It
// does not depend on the values of secrets, so that clients can't test guesses of them.
func ConfigTag(groups []*ConfigGroup, secrets []*ConfigSecrets, dicts []*ConfigDict) string {
	text := make([]byte, 0, 12*(len(groups)+len(dicts))+32*len(secrets)+2)
	for _, g := range groups {
		text = append(text, g.tag[:]...)
	}
	text = append(text, '|')
	for _, s := range secrets {
		text = append(text, s.Version...)
	}
	text = append(text, '|')
	for _, d := range dicts {
		text = append(text, d.tag[:]...)
	}
	sum := sha256.Sum256(text)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
}
