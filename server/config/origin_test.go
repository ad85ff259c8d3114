package config

import (
	"slices"
	"testing"
)

// TestOrigins_CanonicalForm covers every key that has origins: browsers never name the default
// port, and write lower case.
func TestOrigins_CanonicalForm(t *testing.T) {
	t.Setenv("REEVE_SERVER__PUBLIC_URL", "https://Reeve.example.org:443/")
	t.Setenv("REEVE_SERVER__CORS_ORIGINS",
		"https://A.example:443,http://b.example:80,http://c.example:8080")
	t.Setenv("REEVE_FORWARD_AUTH__ORIGINS", "https://shop.example.org:443,http://[::1]:80")
	t.Setenv("REEVE_FORWARD_AUTH__CROSS_ORIGIN", "https://SHOP.example.org")
	c, s := load(t, "", nil)
	if want := "https://reeve.example.org"; c.PublicURL != want || s.PublicURL != want ||
		s.Forward.URL != want {
		t.Errorf("%q %q %q", c.PublicURL, s.PublicURL, s.Forward.URL)
	}
	if want := []string{"https://a.example", "http://b.example", "http://c.example:8080"}; !slices.Equal(s.CORSOrigins, want) {
		t.Errorf("%q", s.CORSOrigins)
	}
	if want := []string{"https://shop.example.org", "http://[::1]"}; !slices.Equal(s.Forward.Origins, want) || !slices.Equal(s.Forward.CrossOrigin, want[:1]) {
		t.Errorf("%+v", s.Forward)
	}

	t.Setenv("REEVE_FORWARD_AUTH__URL", "https://sign-in.example.org:443")
	if _, s := load(t, "", nil); s.Forward.URL != "https://sign-in.example.org" {
		t.Errorf("%q", s.Forward.URL)
	}

	t.Setenv("REEVE_SERVER__BASE_PATH", "/Tool")
	t.Setenv("REEVE_SERVER__PUBLIC_URL", "https://Reeve.example.org:443/Tool/")
	t.Setenv("REEVE_FORWARD_AUTH__URL", "https://SIGN-IN.example.org/Tool/")
	if c, s := load(t, "", nil); c.PublicURL != "https://reeve.example.org/Tool" ||
		s.PublicURL != c.PublicURL || s.Forward.URL != "https://sign-in.example.org/Tool" {
		t.Errorf("%q %q %q", c.PublicURL, s.PublicURL, s.Forward.URL)
	}
}

func TestOrigins_Invalid(t *testing.T) {
	for _, key := range []string{"SERVER__PUBLIC_URL", "SERVER__CORS_ORIGINS",
		"FORWARD_AUTH__ORIGINS", "FORWARD_AUTH__URL", "FORWARD_AUTH__CROSS_ORIGIN"} {
		for _, value := range []string{"https://a.example/path", "a.example", "https://",
			"https://*.example", "https://u@a.example", "https://a.example:", "ftp://a.example",
			"https://a.example?x"} {
			t.Run(key+"="+value, func(t *testing.T) {
				t.Setenv("REEVE_FORWARD_AUTH__URL", "https://reeve.example.org")
				t.Setenv("REEVE_"+key, value)
				c, err := Load("", nil)
				if err == nil {
					_, err = c.Server()
				}
				if err == nil {
					t.Error("it was accepted")
				}
			})
		}
	}
}

func TestForward_CrossOriginNamesAProgram(t *testing.T) {
	t.Setenv("REEVE_FORWARD_AUTH__URL", "https://reeve.example.org")
	t.Setenv("REEVE_FORWARD_AUTH__ORIGINS", "https://shop.example.org")
	t.Setenv("REEVE_FORWARD_AUTH__CROSS_ORIGIN", "https://other.example.org")
	c, err := Load("", nil)
	if err == nil {
		_, err = c.Server()
	}
	if want := `forward_auth.cross_origin: "https://other.example.org" is not in forward_auth.origins`; err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}

	t.Setenv("REEVE_FORWARD_AUTH__URL", "")
	if c, err = Load("", nil); err == nil {
		_, err = c.Server()
	}
	if err == nil {
		t.Error("origins without a URL were accepted")
	}
}
