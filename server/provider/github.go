package provider

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"golang.org/x/oauth2"

	"reeve/store/errs"
)

// GitHubIssuer is the address of GitHub; another one is that of a GitHub Enterprise Server.
const GitHubIssuer = "https://github.com"

// gitHub returns the endpoints of GitHub. UserInfo is the base address of its API.
func gitHub(issuer string) *metadata {
	base := strings.TrimSuffix(issuer, "/")
	m := &metadata{
		Issuer:        issuer,
		Authorization: base + "/login/oauth/authorize",
		Token:         base + "/login/oauth/access_token",
		UserInfo:      base + "/api/v3",
		Methods:       []string{"client_secret_post"},
	}
	if issuer == GitHubIssuer {
		m.UserInfo = "https://api.github.com"
	}
	return m
}

// gitHubClaims asks who a token is from. The claims are those of the user of GitHub, and
// organizations where the scopes have read:org.
func (c *Client) gitHubClaims(ctx context.Context, config *Config, m *metadata, token *oauth2.Token) (*Claims, error) {
	auth := "Bearer " + token.AccessToken
	var raw json.RawMessage
	if err := c.get(ctx, m.UserInfo+"/user", auth, &raw); err != nil {
		return nil, err
	}
	all, _, err := claimsOf(func(v any) error { return json.Unmarshal(raw, v) })
	if err != nil {
		return nil, err
	}
	id, ok := all["id"].(json.Number)
	login, _ := all["login"].(string)
	if _, err := id.Int64(); !ok || err != nil || login == "" {
		return nil, errToken(errs.Say("its subject is missing or too long"))
	}
	claims := &Claims{Issuer: m.Issuer, Subject: id.String(), Username: proposal(login), All: all}
	name, _ := all["name"].(string)
	claims.Name = proposal(name)

	var addresses []struct {
		Email    string `json:"email"`
		Primary  bool   `json:"primary"`
		Verified bool   `json:"verified"`
	}
	if slices.Contains(config.Scopes, "user:email") {
		if err := c.get(ctx, m.UserInfo+"/user/emails", auth, &addresses); err != nil {
			return nil, err
		}
	}
	for _, a := range addresses {
		if a.Primary {
			claims.Email, claims.EmailVerified = a.Email, a.Verified
		}
	}

	if slices.Contains(config.Scopes, "read:org") {
		var list []struct {
			Login string `json:"login"`
		}
		if err := c.get(ctx, m.UserInfo+"/user/orgs?per_page=100", auth, &list); err != nil {
			return nil, err
		}
		names := make([]any, len(list))
		for i, one := range list {
			names[i] = one.Login
		}
		all["organizations"] = names
	}
	return claims, nil
}
