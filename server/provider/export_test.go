package provider

import "time"

// PassKeys makes the keys of a provider older, and the last request for them.
func PassKeys(c *Client, issuer string, by time.Duration) {
	k := keysOf(c, issuer)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.fetched, k.asked = k.fetched.Add(-by), k.asked.Add(-by)
}

// CountKeys returns how many keys of a provider are used.
func CountKeys(c *Client, issuer string) int {
	k := keysOf(c, issuer)
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.keys)
}

func keysOf(c *Client, issuer string) *keySet {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known[issuer].data.keys
}
