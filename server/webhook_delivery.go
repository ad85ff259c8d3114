package server

import (
	"encoding/json"
	"reflect"
	"slices"
	"strconv"

	"reeve/server/webhook"
	"reeve/store"
	"reeve/store/errs"
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
	Reason     reason     `json:"reason" doc:"Code and parameters of error"`
}

// deliveryDetail is a delivery with what was sent and answered.
type deliveryDetail struct {
	delivery
	Request  string `json:"request" doc:"Body that was sent"`
	Response string `json:"response" doc:"First 2 KiB of the response's body"`
}

// deliveryPage is a page of deliveries.
type deliveryPage struct {
	Data     []*delivery `json:"data" doc:"Deliveries, the newest first. A page can have fewer than pageSize, or none, although next is not 0"`
	PageSize int         `json:"pageSize" doc:"Maximum number of deliveries per page"`
	Next     uint64      `json:"next" doc:"Value of before for the next page; 0 on the last one"`
}

func deliveryOf(req *Request, d *webhook.Delivery) *delivery {
	var why errs.Message
	if d.Fault != nil && json.Unmarshal(d.Fault, &why) != nil {
		why = errs.Say("unknown")
	}
	return &delivery{
		ID: d.ID, At: store.TimeOf(d.At), Event: d.Event, Type: d.Type, Kind: d.Kind, Attempt: d.Attempt, Success: store.Flag(d.Fault == nil), Status: d.Status,
		DurationMS: float64(d.Took.Microseconds()) / 1000, Error: why.In(req.language()), Reason: reasonOf(why),
	}
}

func deliveryDetailOf(req *Request, d *webhook.Delivery) *deliveryDetail {
	return &deliveryDetail{*deliveryOf(req, d), d.Request, d.Response}
}

// deliveryKey returns the key that seals the deliveries of a webhook, for a caller who may read
// them: they have what its owner may read. It stores those that wait.
func (req *Request) deliveryKey(id store.ID) (key []byte, err error) {
	err = req.db.View(req.Actor, func(tx *store.Tx) error {
		if _, err := store.ReadDeliveriesOf(tx, id); err != nil {
			return err
		}
		keys, err := store.WebhookKeysOf(tx, id)
		key = keys.Deliveries
		return err
	})
	if err == nil {
		req.s.sender.save()
	}
	return key, err
}

// deliveryList returns the route of the list. Its pages follow one another by the ID of the last
// delivery, since new ones are added at the beginning all the time.
func deliveryList(path, access, title string) Route {
	info := &listInfo{
		under: true, order: "newest first",
		columns: []columnInfo{{"before", param, true}, {"success", filtered | param, true}, {"type", filtered | param, false}, {"event", param, false}},
	}
	rt := Route{Method: "GET", Path: path, Access: access, Title: title, out: reflect.TypeFor[*deliveryPage](), list: info, handler: "deliveryList"}
	rt.act = func(req *Request, out *envelope) error {
		ask, err := info.ask(req)
		if err != nil {
			return err
		}
		if ask.page > 1 {
			return errs.Field(errs.Malformed, "page", "can't be used in this list; use before")
		}
		page, err := findDeliveries(req, ask)
		if err != nil {
			return err
		}
		return out.record(req, page)
	}
	return rt
}

func findDeliveries(req *Request, ask *listQuery) (*deliveryPage, error) {
	key, err := req.deliveryKey(ask.under)
	if err != nil {
		return nil, err
	}
	before := uint64(0)
	texts := map[string][]string{}
	for _, of := range ask.anyOf {
		if of.column != "before" {
			texts[of.column] = append(texts[of.column], of.texts...)
		} else if before, err = strconv.ParseUint(of.texts[0], 10, 64); err != nil || before == 0 {
			return nil, errs.Field(errs.Malformed, "before", "must be a positive integer")
		}
	}
	has := func(column, value string) bool { return texts[column] == nil || slices.Contains(texts[column], value) }
	found, next, err := req.s.sender.log.Newest(uint64(ask.under), key, before, ask.size, func(d *webhook.Delivery) bool {
		success := "1"
		if d.Fault != nil {
			success = "0"
		}
		return has("success", success) && has("type", d.Type) && has("event", d.Event)
	})
	if err != nil {
		return nil, err
	}
	page := &deliveryPage{Data: []*delivery{}, PageSize: ask.size, Next: next}
	for i := range found {
		page.Data = append(page.Data, deliveryOf(req, &found[i]))
	}
	return page, nil
}

type deliveryIn struct {
	byID
	DeliveryID store.ID `path:"delivery_id"`
}

func getDelivery(req *Request, in *deliveryIn) (*deliveryDetail, error) {
	key, err := req.deliveryKey(in.ID)
	if err != nil {
		return nil, err
	}
	d, found, err := req.s.sender.log.Get(uint64(in.ID), key, uint64(in.DeliveryID))
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, errs.New(errs.NotFound, "delivery %d not found", in.DeliveryID)
	}
	return deliveryDetailOf(req, d), nil
}
