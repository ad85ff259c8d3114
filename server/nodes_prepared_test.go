package server_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"reeve/auth"
	"reeve/server/pages"
	"reeve/server/servertest"
	"reeve/store"
)

// send sends a request that was prepared.
type send = func() *servertest.Reply

// preparedRequests are requests that need others before them, or a form, by the operation. Each function sends the
// others.
var preparedRequests = map[string]func(in *servertest.Instance) send{
	"POST /.reeve/sign-out": func(in *servertest.Instance) send {
		v := &visitor{[]*servertest.Instance{in}, map[string]string{}, 0}
		v.signsIn(&servertest.Traveller{Nodes: &servertest.Nodes{T: in.T, All: v.all}, Token: in.Tokens["owner"]})
		return func() *servertest.Reply {
			a := v.visit("POST", "/.reeve/sign-out", "confirm=1")
			return &servertest.Reply{Sent: "POST /.reeve/sign-out", Code: a.StatusCode}
		}
	},
	"POST /link/:token": func(in *servertest.Instance) send {
		return func() *servertest.Reply {
			return in.Submit(goodLinks.password.Token, servertest.Passwords(servertest.NewSecret, servertest.NewSecret))
		}
	},
	"POST /system/audit-undo": func(in *servertest.Instance) send {
		since := time.Now().UTC().Format(time.RFC3339Nano)
		in.OK("PUT", "/admin/list/2/status", `{"status":0}`, "owner")
		return call(in, "POST", "/system/audit-undo", fmt.Sprintf(`{"by":"user:1","since":%q}`, since), "owner")
	},

	"DELETE /admin/account/totp": func(in *servertest.Instance) send {
		in.SetUpFactor("owner")
		return call(in, "DELETE", "/admin/account/totp", "", "owner")
	},
	"POST /admin/account/recovery": func(in *servertest.Instance) send {
		in.SetUpFactor("owner")
		return call(in, "POST", "/admin/account/recovery", "", "owner")
	},
	"DELETE /admin/list/:id/factor": func(in *servertest.Instance) send {
		in.SetUpFactor("clerk")
		return call(in, "DELETE", "/admin/list/2/factor", "", "owner")
	},
	"DELETE /user/list/:id/factor": func(in *servertest.Instance) send {
		in.SetUpAppFactor("customer")
		return call(in, "DELETE", "/user/list/1/factor", "", "owner")
	},
	"DELETE /admin/account/provider":     removed("/admin/account/provider?ids="),
	"DELETE /admin/account/provider/:id": removed("/admin/account/provider/"),
	"DELETE /system/provider-person":     removed("/system/provider-person?ids="),
	"DELETE /system/provider-person/:id": removed("/system/provider-person/"),
	"DELETE /system/mail":                removed("/system/mail?ids="),
	"DELETE /system/mail/:id":            removed("/system/mail/"),
	"DELETE /system/monitor/trace":       removed("/system/monitor/trace?ids="),
	"DELETE /system/monitor/trace/:id":   removed("/system/monitor/trace/"),
	"DELETE /admin/list/:id/lockout":     sent("DELETE", "/admin/list/2/lockout", ""),
	"DELETE /user/list/:id/lockout":      sent("DELETE", "/user/list/1/lockout", ""),
	"POST /access/v1/evaluation":         sent("POST", "/access/v1/evaluation", `{`+evaluated+`}`),
	"POST /access/v1/evaluations":        sent("POST", "/access/v1/evaluations", `{`+evaluated+`}`),
	"POST /ofrep/v1/evaluate/flags/:key": func(in *servertest.Instance) send {
		in.Create("/system/setting", `{"key":"checkout","title":"Checkout","type":"flag","group_id":8,"values":"{\"enabled\":true,\"variants\":{\"on\":true},\"default\":\"on\"}"}`)
		return call(in, "POST", "/ofrep/v1/evaluate/flags/mine.checkout", `{}`, "owner")
	},
	"POST /system/mail/:id/retry": func(in *servertest.Instance) send {
		in.OK("POST", "/admin/email", `{"email":"new@example.org"}`, "owner")
		in.Update(func(tx *store.Tx) error {
			_, err := store.Mails.UpdateQuietly(tx, 1, func(m *store.Mail) error { m.State = store.MailFailed; return nil })
			return err
		})
		return call(in, "POST", "/system/mail/1/retry", "", "owner")
	},
	"POST /admin/key/:id/adopt": func(in *servertest.Instance) send {
		altered(in, func(k *store.APIKey) { k.UserID = 2 })
		return call(in, "POST", "/admin/key/1/adopt", "", "owner")
	},
	"POST /admin/key/:id/resume": func(in *servertest.Instance) send {
		altered(in, func(k *store.APIKey) { k.Paused = store.KeyRestored })
		return call(in, "POST", "/admin/key/1/resume", "", "owner")
	},
	"POST /system/field/:id/apply":              sent("POST", "/system/field/1/apply", ""),
	"POST /system/webhook/:id/test":             sent("POST", "/system/webhook/1/test", ""),
	"POST /file/list":                           uploaded("/file/list", "a text"),
	"POST /file/list/:id/version":               uploaded("/file/list/1/version", "another text"),
	"PUT /file/list/:id/version/:version_id":    sent("PUT", "/file/list/1/version/1", ""),
	"DELETE /file/list/:id/version/:version_id": sent("DELETE", "/file/list/1/version/1", ""),
	"DELETE /file/list/:id/version":             sent("DELETE", "/file/list/1/version?ids=1", ""),
	"POST /admin/avatar": func(in *servertest.Instance) send {
		return func() *servertest.Reply {
			return in.Send(in.Multipart("/admin/avatar", strings.NewReader(servertest.MultipartBody(servertest.FilePart("a.gif", onePixel))), "owner"))
		}
	},
	"POST /admin/list-import": uploaded("/admin/list-import", importFile("one", 2)),
	"POST /user/list-import":  uploaded("/user/list-import", importFile("one", 2)),
	"POST /auth/introspect": func(in *servertest.Instance) send {
		return func() *servertest.Reply {
			r := in.Request("POST", "/auth/introspect", "token=unknown", "owner")
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			return in.Send(r)
		}
	},

	"POST /api/login/email":       mailsCode("/api/login/email", ""),
	"POST /api/login/email-code":  usesCode("/api/login/email", "/api/login/email-code", ""),
	"POST /auth/login/email":      mailsCode("/auth/login/email", program),
	"POST /auth/login/email-code": usesCode("/auth/login/email", "/auth/login/email-code", program),
	"POST /api/login/code": func(in *servertest.Instance) send {
		in.OK("PUT", "/system/setting", `{"values":{"app.return_origins":"https://shop.example.org"}}`, "owner")
		verifier, state := strings.Repeat("v", 43), strings.Repeat("s", 16)
		sum := sha256.Sum256([]byte(verifier))
		to := auth.Return{To: "https://shop.example.org/", State: state, Challenge: base64.RawURLEncoding.EncodeToString(sum[:])}
		var code string
		in.View(func(tx *store.Tx) error {
			session, err := in.Auth.Inspect(tx, in.Tokens["customer"])
			if err == nil {
				code, err = in.Auth.NewReturnCode(session, to)
			}
			return err
		})
		return call(in, "POST", "/api/login/code", fmt.Sprintf(`{"code_token":%q,"code_verifier":%q,"to":%q,"state":%q}`, code, verifier, to.To, state), "nobody")
	},

	"POST /app/sign-in":  page("nobody", pages.SignInPath, "username", "customer", "password", servertest.OwnerPassword),
	"POST /app/sign-out": page("customer", pages.SignOutPath),
	"POST /app/register": page("nobody", pages.RegisterPath, "username", "ben", "email", "", "nickname", "",
		"password", servertest.NewSecret, "password_again", servertest.NewSecret),
	"POST /app/forgot":          page("nobody", pages.ForgotPath, "username", "customer"),
	"POST /app/account/verify":  page("customer", pages.VerifyPath),
	"POST /app/account/profile": page("customer", pages.ProfilePath, "nickname", "N", "mobile", "", "email", "customer@example.org"),
	"POST /app/account/password": page("customer", pages.PasswordPath, "old_password", servertest.OwnerPassword,
		"new_password", servertest.NewSecret, "password_again", servertest.NewSecret),
	"POST /app/account/delete": page("customer", pages.DeletionPath, "password", servertest.OwnerPassword),
	"POST /app/account/sessions": func(in *servertest.Instance) send {
		return page("customer", pages.SessionsPath, "id", appSession(in))(in)
	},
	"POST /app/account/authenticator": page("customer", pages.AuthenticatorPath, "password", servertest.OwnerPassword),
	"POST /app/account/authenticator/confirm": func(in *servertest.Instance) send {
		app := in.AppOf(in.OK("POST", "/api/user/totp", `{"password":"`+servertest.OwnerPassword+`"}`, "customer"))
		return page("customer", pages.ConfirmAppPath, "otp", app.Code())(in)
	},
	"POST /app/account/authenticator/recovery": func(in *servertest.Instance) send {
		app, _ := in.SetUpAppFactor("customer")
		return page("customer", pages.RenewCodesPath, "otp", app.Code())(in)
	},
	"POST /app/account/authenticator/remove": func(in *servertest.Instance) send {
		app, _ := in.SetUpAppFactor("customer")
		return page("customer", pages.RemoveAppPath, "otp", app.Code())(in)
	},
	"POST /app/account/passkeys/add": func(in *servertest.Instance) send {
		return page("customer", pages.AddPasskeyPath, "credential", newCredential(in, true, true), "password", servertest.OwnerPassword)(in)
	},
	"POST /app/account/passkeys/remove": func(in *servertest.Instance) send {
		id := in.AddAppPasskey(servertest.NewAuthenticator(), "customer")
		return page("customer", pages.RemovePasskeyPath, "id", id.String(), "password", servertest.OwnerPassword)(in)
	},
	"POST /app/sign-in/passkey": func(in *servertest.Instance) send {
		return page("nobody", pages.PasskeyPath, "credential", newCredential(in, true, false))(in)
	},
	"POST /app/sign-in/code": func(in *servertest.Instance) send {
		app, _ := in.SetUpAppFactor("customer")
		v := in.GuestBrowser()
		v.Post(pages.SignInPath, "username", "customer", "password", servertest.OwnerPassword).Leads(pages.CodePath)
		return func() *servertest.Reply { return v.Post(pages.CodePath, "otp", app.Code()) }
	},
	"POST /app/sign-in/email": func(in *servertest.Instance) send {
		withMailedCodes(in)
		return page("nobody", pages.EmailPath, "username", "customer")(in)
	},
	"POST /app/sign-in/email/code": func(in *servertest.Instance) send {
		who, v := withMailedCodes(in), in.GuestBrowser()
		v.Post(pages.EmailPath, "username", "customer").Leads(pages.EmailCodePath)
		code := mailedCode(in, who)
		return func() *servertest.Reply { return v.Post(pages.EmailCodePath, "otp", code) }
	},
}

const evaluated = `"subject":{"type":"user","id":"1"},"action":{"name":"query"},"resource":{"type":"system.dict","id":"1"}`

// program are the fields with which a program names the browser of a person.
const program = `,"address":"198.51.100.7","user_agent":"x"`

func call(in *servertest.Instance, method, url, body, as string) send {
	return func() *servertest.Reply { return in.Call(method, url, body, as) }
}

// sent is a request of the owner that needs no other one.
func sent(method, url, body string) func(in *servertest.Instance) send {
	return func(in *servertest.Instance) send { return call(in, method, url, body, "owner") }
}

// altered changes the first key.
func altered(in *servertest.Instance, change func(k *store.APIKey)) {
	in.T.Helper()
	in.Update(func(tx *store.Tx) error {
		_, err := store.APIKeys.UpdateQuietly(tx, 1, func(k *store.APIKey) error { change(k); return nil })
		return err
	})
}

func uploaded(url, file string) func(in *servertest.Instance) send {
	return func(in *servertest.Instance) send {
		return func() *servertest.Reply { return in.Upload(url, file, "owner") }
	}
}

// removed deletes a record of deletable. url ends where its ID comes.
func removed(url string) func(in *servertest.Instance) send {
	return func(in *servertest.Instance) send {
		ids := deletable()[strings.TrimRight(strings.TrimSuffix(url, "?ids="), "/")](in)
		return call(in, "DELETE", url+ids[0].String(), "", "owner")
	}
}

// page sends the form of a page for app users.
func page(as, path string, fields ...string) func(in *servertest.Instance) send {
	return func(in *servertest.Instance) send {
		v := in.GuestBrowser()
		if as != "nobody" {
			v.Cookies[servertest.SessionCookie(true, false)] = in.Tokens[as]
		}
		return func() *servertest.Reply { return v.Post(path, fields...) }
	}
}

// mailsCode asks for a code by mail. more are other fields.
func mailsCode(url, more string) func(in *servertest.Instance) send {
	return func(in *servertest.Instance) send {
		withMailedCodes(in)
		return call(in, "POST", url, `{"username":"customer"`+more+`}`, "owner")
	}
}

func usesCode(ask, url, more string) func(in *servertest.Instance) send {
	return func(in *servertest.Instance) send {
		who := withMailedCodes(in)
		var asked struct {
			Token string `json:"login_token"`
		}
		in.OK("POST", ask, `{"username":"customer"`+more+`}`, "owner").Data(&asked)
		return call(in, "POST", url, fmt.Sprintf(`{"login_token":%q,"otp":%q%s}`, asked.Token, mailedCode(in, who), more), "owner")
	}
}
