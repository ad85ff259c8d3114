package webhooks

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"

	"reeve/server/web"
	"reeve/server/webhook"
	"reeve/store"
	"reeve/store/errs"
	"reeve/store/kv"
)

// delivery is an attempt to send a message, in responses.
type delivery struct {
	ID         uint64     `json:"id"`
	At         store.Time `json:"at"`
	Event      string     `json:"event" doc:"ID of the message, which is the same in every attempt"`
	Type       string     `json:"type"`
	Kind       string     `json:"kind" enum:"delivery_kind" doc:"Kind: event, replay or test"`
	Attempt    int        `json:"attempt" doc:"Number of the attempt, from 1"`
	Success    store.Flag `json:"success" doc:"1 if the receiver has answered with a 2xx status"`
	Status     int        `json:"status" doc:"HTTP status of the response; 0 without one"`
	DurationMS float64    `json:"duration_ms"`
	Error      string     `json:"error" doc:"Why it failed, in the language of the request; empty otherwise"`
	Reason     web.Reason `json:"reason" doc:"Code and parameters of error"`
}

// DeliveryDetail is a delivery with what was sent and answered.
type DeliveryDetail struct {
	delivery
	Request  string `json:"request" doc:"Body that was sent"`
	Response string `json:"response" doc:"First 2 KiB of the response's body"`
}

// DeliveryPage is a page of deliveries.
type DeliveryPage struct {
	Data     []*delivery `json:"data" doc:"Deliveries, the newest first. A page can have fewer than pageSize, or none, although next is not 0"`
	Node     string      `json:"node" doc:"Name of the node that answers, which has sent them; empty for a server that is the only one"`
	PageSize int         `json:"pageSize" doc:"Maximum number of deliveries per page"`
	Next     uint64      `json:"next" doc:"Value of before for the next page; 0 on the last one"`
}

func deliveryOf(req *web.Request, d *webhook.Delivery) *delivery {
	var why errs.Message
	if d.Fault != nil && json.Unmarshal(d.Fault, &why) != nil {
		why = errs.Say("unknown")
	}
	return &delivery{
		ID:         d.ID,
		At:         kv.TimeOf(d.At),
		Event:      d.Event,
		Type:       d.Type,
		Kind:       d.Kind,
		Attempt:    d.Attempt,
		Success:    store.Flag(d.Fault == nil),
		Status:     d.Status,
		DurationMS: float64(d.Took.Microseconds()) / 1000,
		Error:      why.In(req.Language()),
		Reason:     web.ReasonOf(why),
	}
}

func deliveryDetailOf(req *web.Request, d *webhook.Delivery) *DeliveryDetail {
	return &DeliveryDetail{*deliveryOf(req, d), d.Request, d.Response}
}

// deliveryKey returns the key that seals the deliveries of a webhook, for a caller who may read
// them: they have what its owner may read. It stores those that wait.
func (w *Sender) deliveryKey(req *web.Request, id store.ID) (key []byte, err error) {
	err = req.DB.View(req.Actor, func(tx *store.Tx) error {
		if _, err := store.ReadDeliveriesOf(tx, id); err != nil {
			return err
		}
		keys, err := store.WebhookKeysOf(tx, id)
		key = keys.Deliveries
		return err
	})
	if err == nil {
		w.Save()
	}
	return key, err
}

// deliveryList returns the route of the list. Its pages follow one another by the ID of the last
// delivery, since new ones are added at the beginning all the time.
func (w *Sender) deliveryList(path, access, title string, options ...web.Options) web.Route {
	info := &web.ListInfo{
		Under: true, Order: "newest first",
		Columns: []web.ColumnInfo{{Name: "before", Uses: web.Param, Number: true}, {
			Name:   "success",
			Uses:   web.Filtered | web.Param,
			Number: true,
		}, {Name: "type", Uses: web.Filtered | web.Param, Number: false}, {
			Name:   "event",
			Uses:   web.Param,
			Number: false,
		}},
	}
	rt := web.Route{
		Method:  "GET",
		Path:    path,
		Access:  access,
		Title:   title,
		Output:  reflect.TypeFor[*DeliveryPage](),
		List:    info,
		Handler: "deliveryList",
	}
	rt.Act = func(req *web.Request, out *web.Envelope) error {
		ask, err := info.Ask(req)
		if err != nil {
			return err
		}
		if ask.Page > 1 {
			return errs.Field(errs.Malformed, "page", "can't be used in this list; use before")
		}
		page, err := w.findDeliveries(req, ask)
		if err != nil {
			return err
		}
		return out.Record(req, page)
	}

	return rt.With(options...)
}

func (w *Sender) findDeliveries(req *web.Request, ask *web.ListQuery) (*DeliveryPage, error) {
	key, err := w.deliveryKey(req, ask.Under)
	if err != nil {
		return nil, err
	}

	before := uint64(0)
	texts := map[string][]string{}
	for _, of := range ask.AnyOf {
		if of.Column != "before" {
			texts[of.Column] = append(texts[of.Column], of.Texts...)
		} else if before, err = strconv.ParseUint(of.Texts[0], 10, 64); err != nil || before == 0 {
			return nil, errs.Field(errs.Malformed, "before", "must be a positive integer")
		}
	}

	has := func(column, value string) bool {
		return texts[column] == nil || slices.Contains(texts[column], value)
	}
	found, next, err := w.Log.Newest(uint64(ask.Under), key, before, ask.Size,
		func(d *webhook.Delivery) bool {
			success := "1"
			if d.Fault != nil {
				success = "0"
			}
			return has("success", success) && has("type", d.Type) && has("event", d.Event)
		})
	if err != nil {
		return nil, err
	}

	page := &DeliveryPage{Data: []*delivery{}, Node: req.Server.NodeName(), PageSize: ask.Size, Next: next}
	for i := range found {
		page.Data = append(page.Data, deliveryOf(req, &found[i]))
	}

	return page, nil
}

type deliveryIn struct {
	web.ByID
	DeliveryID store.ID `path:"delivery_id"`
}

func (w *Sender) getDelivery(req *web.Request, in *deliveryIn) (*DeliveryDetail, error) {
	key, err := w.deliveryKey(req, in.ID)
	if err != nil {
		return nil, err
	}
	d, found, err := w.Log.Get(uint64(in.ID), key, uint64(in.DeliveryID))
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, errs.New(errs.NotFound, "delivery %d not found", in.DeliveryID)
	}
	return deliveryDetailOf(req, d), nil
}
