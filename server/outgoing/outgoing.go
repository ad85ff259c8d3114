// Package outgoing limits where the server connects to at the wish of users. A URL comes from a user,
// who must not reach the internal network with it: so connections are made only to addresses on the
// Internet, and to destinations that the operator names in the configuration.
//
//	allow, err := outgoing.ParseAllow("webhooks.allow", []string{"10.0.0.0/8", "app.internal"})
//	transport := &http.Transport{DialContext: allow.Dialer(net.Dialer{}, false)}
package outgoing
