package e2e

import (
	"testing"

	"reeve/server/directory/directorytest"
)

// TestConsoleDirectory creates an LDAP directory in the console, tests it and enables it; a person signs in with it, and
// confirms a change with it.
func TestConsoleDirectory(t *testing.T) {
	t.Parallel()
	there := directorytest.Start(t)
	server := providerServer(t)
	c := signedIn(t, server)

	p := signedInAt(t, server, c, "/system/provider")
	p.click("button", "New sign-in provider")
	p.choose("Kind", "Active Directory")
	if filter := p.value("Attribute of the ID"); filter != "objectGUID" {
		t.Errorf("the attribute of the ID is %s", filter)
	}
	p.choose("Kind", "LDAP directory")
	p.fill("Title", "Company")
	p.fill("Name in URLs", "company")
	p.fill("Bind DN", directorytest.Reader)
	p.fill("Password of the bind DN", directorytest.Password)
	p.fill("Base DN", directorytest.People)
	p.fill("Base DN of groups", directorytest.Groups)
	p.fill("Certificates of authorities", there.Authority)
	p.click("button", "Add mapping")
	p.fill("Value", "cn=sales,"+directorytest.Groups)
	p.click("button", "Create")
	p.see("Required")
	p.looksGood("directory-form")
	p.fill("Servers", there.Plain)
	p.press("Enter")
	p.click("button", "Create")
	p.see("Company created")

	p.row("Company").click("button", "Test: Company")
	p.see("Sign in with Company")
	p.fill("Username", "ann")
	p.fill("Password", "other password")
	p.expect(422, "/auth/provider/company/sign-in")
	p.click("button", "Sign in")
	p.see("Wrong username or password")
	p.looksGood("directory-sign-in")
	p.fill("Password", directorytest.Password)
	p.click("button", "Sign in")
	p.see("The provider works, and this person may come from it")
	p.see("cn=sales," + directorytest.Groups)
	p.press("Escape")
	p.at("/system/provider")

	p.click("link", "Company")
	p.see(directorytest.People)
	p.looksGood("directory-page")
	p.click("button", "More actions for Company")
	p.click("menuitem", "Edit")
	p.see("The stored secret stays")
	p.choose("People without an account", "Always get one")
	p.toggle("Enabled", true)
	p.click("button", "Save")
	p.see("No one is connected yet")

	other := console(t, server)
	other.open("/account/security#providers")
	other.click("link", "Continue with Company")
	other.fill("Username", "ann")
	other.fill("Password", directorytest.Password)
	other.click("button", "Sign in")
	other.find("button", "Disconnect: Company")
}
