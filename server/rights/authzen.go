package rights

import (
	"reflect"
	"strconv"

	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// The Authorization API 1.0 of OpenID AuthZEN asks whether a subject may perform an action on a
// resource. Here, that is whether a user or app user has the permission TYPE.ACTION; resources of a type
// are not told apart.

const (
	evaluationPath  = "/access/v1/evaluation"
	evaluationsPath = "/access/v1/evaluations"
)

func AuthZENRoutes() []web.Route {
	return []web.Route{
		web.Following(&authZEN, "POST", evaluationPath, "auth.check", "Evaluate an access request",
			evaluate, web.Options{
				ReadOnly: true,
				Note: "OpenID AuthZEN: the decision is whether the subject (type user or app_user; the ID or the " +
					"username) has the permission that the type of the resource and the name of the action make: " +
					"order and refund ask for order.refund. The ID of the resource is not looked at.",
			}),
		web.Following(&authZEN, "POST", evaluationsPath, "auth.check", "Evaluate access requests",
			evaluateSeveral, web.Options{
				ReadOnly: true,
				Note: "OpenID AuthZEN: up to 100 requests, with subject, action and resource of the whole where " +
					"one has none of its own.",
			}),
		web.Following(&authZEN, "GET", "/.well-known/authzen-configuration", web.Public,
			"Get the metadata of the AuthZEN API", authZENMetadata, web.Options{
				MayBeMissing: true,
				Note:         "404 without server.public_url in the configuration.",
			}),
	}
}

// authZEN has 400 for everything that is wrong with a request, and its message alone.
var authZEN = web.Protocol{
	Name: "AuthZEN", Failed: reflect.TypeFor[AuthZENFailure](),
	Failure:  func(_ *web.Request, _ *errs.Error, msg string) any { return AuthZENFailure{msg} },
	Statuses: map[errs.Kind]int{errs.Invalid: 400, errs.TooLarge: 400, errs.BadMedia: 400},
}

// AuthZENFailure is the body of an error.
type AuthZENFailure struct {
	Message string `json:"message"`
}

// azRequest is one question. In a list, what is absent is that of the whole.
type azRequest struct {
	Subject  map[string]any `json:"subject" doc:"Who wants to do it: type, user or app_user, and id, the ID or the username"`
	Action   map[string]any `json:"action" doc:"What is to be done: name, the last part of the key of a permission"`
	Resource map[string]any `json:"resource" doc:"To what it is to be done: type, the first parts of the key of a permission, and id, which is not looked at"`
	Context  map[string]any `json:"context" doc:"Not looked at"`
}

// textOf returns a member that is a text of a usual length; "" for another one.
func textOf(object map[string]any, name string) string {
	const longest = 255
	if text, is := object[name].(string); is && len(text) <= longest {
		return text
	}
	return ""
}

// azDecision is the answer to one question.
type azDecision struct {
	Decision bool       `json:"decision"`
	Context  *azContext `json:"context,omitempty" doc:"Why not; absent if the decision is true"`
}

type azContext struct {
	Reason string `json:"reason" doc:"Reason, as in GET /admin/permission/explain; also invalid_request, unknown_subject and unknown_permission"`
}

func evaluate(req *web.Request, in *azRequest) (out *azDecision, err error) {
	if fault := in.fault(); fault != "" {
		return nil, errs.Field(errs.Invalid, fault, "lacks a text that is required, or has another type than user or app_user")
	}
	return out, req.DB.View(req.Actor, func(tx *store.Tx) error {
		out, err = decide(req, tx, in)
		return err
	})
}

// fault returns the name of the member of a question that is missing or wrong; "" if it is complete.
func (r *azRequest) fault() string {
	switch kind := textOf(r.Subject, "type"); {
	case kind != "user" && kind != "app_user", textOf(r.Subject, "id") == "":
		return "subject"
	case textOf(r.Action, "name") == "":
		return "action"
	case textOf(r.Resource, "type") == "":
		return "resource"
	}
	return ""
}

func refused(reason string) *azDecision { return &azDecision{Context: &azContext{reason}} }

// decide answers a complete question.
func decide(req *web.Request, tx *store.Tx, in *azRequest) (*azDecision, error) {
	c, err := azCaller(req, tx, in.Subject)
	if errs.Is(err, errs.NotFound) || errs.Is(err, errs.Invalid) {
		return refused("unknown_subject"), nil
	}
	if err != nil {
		return nil, err
	}
	key := textOf(in.Resource, "type") + "." + textOf(in.Action, "name")
	switch {
	case c.refused == "" && c.actor.HasPermission(tx, key):
		return &azDecision{Decision: true}, nil
	case !c.policy(tx).HasPermissionKey(key):
		return refused("unknown_permission"), nil
	}
	reason, err := c.reason(tx, key)
	return refused(reason), err
}

// azCaller returns the user or app user whom a subject names by the ID or the username.
func azCaller(req *web.Request, tx *store.Tx, subject map[string]any) (c checkedCaller, err error) {
	name := textOf(subject, "id")
	n, err := strconv.ParseInt(name, 10, 64)
	id, isName := store.ID(n), err != nil || n <= 0
	if textOf(subject, "type") == "app_user" {
		if isName {
			u, err := store.AppUserByName.Get(tx, name)
			if err != nil {
				return c, err
			}
			id = u.ID
		}
		return checked(req, tx, &checkIn{AppUserID: id})
	}
	if isName {
		u, err := store.UserByName.Get(tx, name)
		if err != nil {
			return c, err
		}
		id = u.ID
	}
	return checked(req, tx, &checkIn{UserID: id})
}

type evaluationsIn struct {
	azRequest
	Evaluations []any          `json:"evaluations" check:"max=100" doc:"The questions, objects with subject, action and resource; absent or empty to ask the whole as one"`
	Options     map[string]any `json:"options" doc:"evaluations_semantic says when to stop: execute_all, the default, deny_on_first_deny or permit_on_first_permit"`
}

const (
	executeAll     = "execute_all"
	denyOnDeny     = "deny_on_first_deny"
	permitOnPermit = "permit_on_first_permit"
)

// azDecisions are the answers to several questions, in their order, or to one.
type azDecisions struct {
	Decision    *bool        `json:"decision,omitempty" doc:"Answer if there is no list of questions"`
	Context     *azContext   `json:"context,omitempty"`
	Evaluations []azDecision `json:"evaluations,omitempty" doc:"Answers; fewer than questions if one has ended the evaluation"`
}

func evaluateSeveral(req *web.Request, in *evaluationsIn) (*azDecisions, error) {
	if len(in.Evaluations) == 0 {
		one, err := evaluate(req, &in.azRequest)
		if err != nil {
			return nil, err
		}
		return &azDecisions{Decision: &one.Decision, Context: one.Context}, nil
	}
	semantic, given := in.Options["evaluations_semantic"]
	if given && semantic != executeAll && semantic != denyOnDeny && semantic != permitOnPermit {
		return nil, errs.Field(errs.Invalid, "options", "has an unknown evaluations_semantic")
	}
	out := &azDecisions{}
	return out, req.DB.View(req.Actor, func(tx *store.Tx) error {
		for _, element := range in.Evaluations {
			one := questionIn(element, &in.azRequest)
			decision := refused("invalid_request")
			if one.fault() == "" {
				var err error
				if decision, err = decide(req, tx, one); err != nil {
					return err
				}
			}
			out.Evaluations = append(out.Evaluations, *decision)
			if semantic == denyOnDeny && !decision.Decision || semantic == permitOnPermit && decision.Decision {
				return nil
			}
		}
		return nil
	})
}

// questionIn returns a question of a list, with the members of the whole that it lacks.
func questionIn(element any, whole *azRequest) *azRequest {
	one := *whole
	object, _ := element.(map[string]any)
	for name, member := range map[string]*map[string]any{"subject": &one.Subject, "action": &one.Action, "resource": &one.Resource} {
		if own, given := object[name]; given {
			*member, _ = own.(map[string]any)
		}
	}
	return &one
}

type azMetadata struct {
	Point       string `json:"policy_decision_point" doc:"URL of this server"`
	Evaluation  string `json:"access_evaluation_endpoint"`
	Evaluations string `json:"access_evaluations_endpoint"`
}

func authZENMetadata(req *web.Request, _ *web.None) (*azMetadata, error) {
	base := req.Server.Config.PublicURL
	if base == "" {
		return nil, errs.New(errs.NotFound, "set server.public_url in the configuration, which the metadata has")
	}
	return &azMetadata{base, base + evaluationPath, base + evaluationsPath}, nil
}
