package changes

import (
	"slices"
	"strconv"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/audit"
	"reeve/store/errs"
)

// configEvent returns the event about a change of a setting or dictionary for callers who cannot
// list them. They read them with GET /config, or could before the change. The event has no values.
// It has the name, unless the change has taken the record away from them. It returns nil for
// others.
func (v *View) configEvent(c *audit.Change, out *Event) (*Event, error) {
	var reads, lost bool
	var err error
	switch c.Collection {
	case store.Settings.Name():
		reads, lost, err = v.readsSetting(c)
	case store.Dicts.Name():
		reads, lost, err = v.readsDict(store.ID(c.ID), c)
	case store.DictItems.Name():
		return v.itemEvent(c, out)
	}
	if err != nil || !reads {
		return nil, err
	}
	if !lost {
		out.Name, _, err = v.text(c.Name)
	}

	return out, err
}

// itemEvent returns the event about a change of an item, as one of its dictionary.
func (v *View) itemEvent(c *audit.Change, out *Event) (*Event, error) {
	item, err := store.DictItems.Get(v.tx, store.ID(c.ID))
	var dict store.ID
	switch {
	case err == nil:
		dict = item.DictID
	case errs.Is(err, errs.NotFound):
		for _, id := range idsOf(c, "dict_id") {
			dict = id
		}
	default:
		return nil, err
	}

	reads, _, err := v.readsDict(dict, &audit.Change{})
	if err != nil || !reads {
		return nil, err
	}

	d, err := store.Dicts.Get(v.tx, dict)
	if err != nil {
		return nil, web.UnlessMissing(err)
	}

	out.Collection, out.Record, out.Operation, out.Name = store.Dicts.Name(), dict, "update", d.Name
	return out, nil
}

// secretEvent returns the event about a changed secret, as one of its setting, whose record does
// not change. An entry has one for each setting.
func (v *View) secretEvent(e *audit.Entry, c *audit.Change, out *Event,
	filter EventFilter) (*Event, error) {
	ids := idsOf(c, "setting_id")
	if out.Type = eventWords["setting"][1]; len(ids) == 0 || !filter.Wants(out.Type) {
		return nil, nil
	}

	told := func(other audit.Change) bool {
		return other.Collection == store.Settings.Name() && store.ID(other.ID) == ids[0] ||
			other.Collection == c.Collection && other.Operation == "create" &&
				c.Operation == "delete" && slices.Contains(idsOf(&other, "setting_id"), ids[0])
	}
	if slices.ContainsFunc(e.Changes, told) {
		return nil, nil
	}

	setting := &audit.Change{Collection: store.Settings.Name(), ID: uint64(ids[0])}
	sees := !v.who.App && v.seesChange(setting)
	reads, _, err := v.readsSetting(setting)
	if err != nil || !sees && !reads {
		return nil, err
	}

	s, err := store.Settings.Get(v.tx, ids[0])
	if err != nil {
		return nil, web.UnlessMissing(err)
	}

	out.Collection, out.Record, out.Operation, out.Name = setting.Collection, s.ID, "update", s.Title
	if !sees {
		return out, nil
	}

	return out, v.setActor(e, out)
}

// readsSetting reports whether the caller reads the group that a changed setting is in, or was in.
// lost reports whether it was moved to a group that the caller does not read.
func (v *View) readsSetting(c *audit.Change) (reads, lost bool, err error) {
	groups, err := store.SettingCache.Get(v.tx).Config()
	if err != nil {
		return false, false, err
	}

	readsOne := func(ids []store.ID) bool {
		return slices.ContainsFunc(groups, func(g *store.ConfigGroup) bool {
			return slices.Contains(ids, g.ID) && v.who.ReadsGroup(v.tx, g)
		})
	}

	s, err := store.Settings.Get(v.tx, store.ID(c.ID))
	if err != nil {
		return readsOne(idsOf(c, "group_id")), false, web.UnlessMissing(err)
	}

	now := readsOne([]store.ID{s.GroupID})
	return now || readsOne(idsOf(c, "group_id")), !now, nil
}

// readsDict reports whether the caller may read an enabled dictionary, now or before a change of
// it. lost reports whether it was taken away by the change.
func (v *View) readsDict(id store.ID, c *audit.Change) (reads, lost bool, err error) {
	enabled, public := flagsOf(c, "status"), flagsOf(c, "public")
	d, err := store.Dicts.Get(v.tx, id)
	if err == nil {
		lost = !bool(d.Status) || v.who.App && !bool(d.Public)
		enabled, public = enabled || bool(d.Status), public || bool(d.Public)
	}
	return enabled && (public || !v.who.App), lost, web.UnlessMissing(err)
}

// flagsOf reports whether a flag was or became 1 with a change.
func flagsOf(c *audit.Change, field string) bool {
	return slices.ContainsFunc(c.Fields, func(f audit.Field) bool {
		return f.Name == field && (string(f.Old.Plain) == "1" || string(f.New.Plain) == "1")
	})
}

// idsOf returns the IDs that a field had and got with a change.
func idsOf(c *audit.Change, field string) (ids []store.ID) {
	for _, f := range c.Fields {
		if f.Name != field {
			continue
		}
		for _, value := range []audit.Value{f.Old, f.New} {
			if id, err := strconv.ParseUint(string(value.Plain), 10, 64); err == nil {
				ids = append(ids, store.ID(id))
			}
		}
	}
	return ids
}
