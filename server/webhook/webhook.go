// Package webhook sends webhooks and stores what was sent. It knows neither routes nor
// the change log.
//
// Start with [Client], whose Send posts a [Message] to a receiver and returns a
// [Result], and with [Log], which stores each attempt as a [Delivery]. A message is
// signed as the Standard Webhooks specification says, so that receivers verify it with
// a ready-made library:
// https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
//
// A Client connects only where package outgoing allows. Receivers are not trusted either: time and
// memory of an attempt are bounded, and neither a Result nor a fault contains a secret.
//
//	allow, err := outgoing.ParseAllow("webhooks.allow", []string{"10.0.0.0/8", "app.internal"})
//	client := webhook.NewClient(allow, "1.2.3")
//	defer client.Close()
//	result := client.Send(ctx, "https://example.org/hook", []string{secret}, &webhook.Message{ID: "msg_1", Body: body})
//	if !result.Fault.Empty() {
//		log.Print(result.Fault)
//	}
package webhook
