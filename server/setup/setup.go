// Package setup brings an installation to the state that setup files describe: permissions, roles,
// departments, settings, flags, dictionaries, custom fields, sign-in providers, webhooks and API keys, by
// their names.
//
// A file is read into objects (file.go), which are compared with the current ones (current.go) in
// a plan of changes (plan.go). Applying a plan (apply.go) calls the routes of the resources in one
// transaction, or in the steps of a job if there are many, so that what is valid, who may do it,
// and what the change log says is the same as for single requests. Export (export.go) is the
// inverse.
//
// To add a kind of object, add a row to kinds.
package setup

import (
	"reeve/server/jobs"
	"reeve/server/redact"
	"reeve/server/web"
	"reeve/store"
	"reeve/store/errs"
)

// Limits of the body of a request with setup files, which has all objects of an installation.
const (
	MaxBody   = 8 << 20 // bytes
	MaxValues = 200_000
)

// Routes returns the routes of the package.
func Routes(js *jobs.Runner) []web.Route {
	a := applier{js}
	return []web.Route{
		web.Read("/system/setup", "system.setup.query", "Export the setup", export, web.Options{
			AllowedForCommands: true,

			Keys:             web.ByNoKey,
			RequiresScopeAll: true,
			Validates:        true,
			Note: "The objects that a setup file can have, in its form. Values of secrets are \"unset\", " +
				"which means unchanged. Requires the owner role.",
		}),
		web.Raw("/system/setup-export", "system.setup.query", "Export the setup as a file",
			"application/toml", exportFile, web.Options{
				Keys:             web.ByNoKey,
				RequiresScopeAll: true,
				Validates:        true,
				Note:             "The same as a setup file in TOML. Requires the owner role.",
			}),
		web.Action("POST", "/system/setup/plan", "system.setup.query", "Plan a setup", a.plan,
			web.Options{
				ReadOnly:         true,
				Keys:             web.ByNoKey,
				Validates:        true,
				RequiresScopeAll: true,
				MaxBody:          MaxBody,
				MaxValues:        MaxValues,
				Hidden:           redact.Fields{Values: true, Texts: true},
				Note: "Returns the changes with which the installation would be as the files say, and " +
					"changes nothing. Waits for a setup that is being applied. Requires the owner role.",
			}),
		web.Action("POST", "/system/setup/apply", "system.setup.apply", "Apply a setup", a.apply,
			web.Options{
				Confirmed:        true,
				Reveals:          true,
				Validates:        true,
				RequiresScopeAll: true,
				MaxBody:          MaxBody,
				MaxValues:        MaxValues,
				Hidden:           redact.Fields{Values: true, Texts: true},
				Note: "All or nothing. Up to 200 records are changed in one transaction; more by a job, " +
					"which goes on after a restart and is undone if one of its steps is refused. The " +
					"change log has it as one operation, which can be undone. Requires the owner role.",
			}),
		web.Raw("/setup.schema.json", web.Public, "Get the JSON Schema of setup files",
			"application/schema+json", schema, web.Options{
				Note: "For editors: a TOML file can begin with the comment #:schema and this URL.",
			}),
	}
}

// requireOwner returns an error unless the caller is an owner or an operator: a setup can change
// anything.
func requireOwner(tx *store.Tx) error {
	if !store.ActorOf(tx).IsOwner() {
		return errs.New(errs.Denied, "the owner role is required").Coded("owner_required")
	}
	return nil
}

// plan returns what would change, once jobs that apply other setups have ended.
func (a applier) plan(req *web.Request, files *filesIn) (*Plan, error) {
	in, err := read(req, files)
	if err != nil {
		return nil, err
	}
	return a.planOf(req, in)
}

func (a applier) planOf(req *web.Request, in *given) (plan *Plan, err error) {
	if err := a.jobs.Settle(req.HTTP.Context(), JobKind); err != nil {
		return nil, err
	}
	err = req.DB.View(req.Actor, func(tx *store.Tx) error {
		if err := requireSettled(tx); err != nil {
			return err
		}
		plan, err = newPlan(tx, req.Server.Routes, in.filesIn, true)
		return err
	})
	return plan, in.located(err)
}
