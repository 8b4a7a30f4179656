package policy

import (
	"errors"
	"strings"
	"unicode"
)

// A host as WebFetch rules see it.
type host struct {
	name string // lower case, no final dot
	// problem says why only a rule that names the host exactly may allow it; empty for a public name.
	problem string
	// unreadable: not even then.
	unreadable bool
}

// privateSuffixes are names that are not resolved in the public DNS (RFC 6761, RFC 6762, RFC 8375, RFC 7686 and custom).
var privateSuffixes = []string{"localhost", "local", "internal", "intranet", "private", "corp", "home", "lan", "localdomain",
	"home.arpa", "test", "example", "invalid", "onion", "arpa"}

// readHost takes the host out of a URL. It is stricter than any URL parser, so that what it reads the fetching side reads too.
func readHost(url string) host {
	bad := func(problem string) host { return host{problem: problem, unreadable: true} }
	for _, r := range url {
		if r == '\\' || r <= ' ' || unicode.IsSpace(r) || r == 0x7f || invisible(r) {
			return bad("the address holds a backslash, a blank or an invisible character")
		}
	}
	scheme, rest, _ := strings.Cut(url, "://")
	if scheme = strings.ToLower(scheme); scheme != "http" && scheme != "https" {
		return bad("only http and https addresses are covered by rules")
	}
	authority := rest
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority = rest[:i]
	}
	if strings.Contains(authority, "@") {
		return bad("the address holds a user name")
	}
	name, port := authority, ""
	if i := strings.LastIndexByte(authority, ':'); i >= 0 && !strings.HasSuffix(authority, "]") {
		name, port = authority[:i], authority[i+1:]
	}
	if strings.Trim(port, "0123456789") != "" {
		return bad("the address has no readable port")
	}
	if strings.HasPrefix(name, "[") && strings.HasSuffix(name, "]") {
		if strings.Trim(name[1:len(name)-1], "0123456789abcdefABCDEF:.") != "" {
			return bad("the address has no readable host")
		}
		return host{name: strings.ToLower(name), problem: "the host is an IP address"}
	}
	h, err := readHostName(name)
	if err != nil {
		return bad("the host name cannot be read")
	}
	last := h[strings.LastIndexByte(h, '.')+1:]
	switch {
	case strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") && strings.Trim(last[2:], "0123456789abcdef") == "":
		return host{name: h, problem: "the host is an IP address"} // also 2130706433 and 0x7f.1, which are 127.0.0.1
	case !strings.Contains(h, "."):
		return host{name: h, problem: "the host is not a public name"}
	}
	for _, suffix := range privateSuffixes {
		if h == suffix || strings.HasSuffix(h, "."+suffix) {
			return host{name: h, problem: "the host is not a public name"}
		}
	}
	return host{name: h}
}

// readHostName brings a host name to the one form that is compared. A name outside ASCII has to be given as punycode.
func readHostName(name string) (string, error) {
	name = strings.TrimSuffix(name, ".")
	if name == "" || len(name) > 253 {
		return "", errors.New("no host")
	}
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return "", errors.New("not a host name in ASCII")
		}
	}
	return strings.ToLower(name), nil
}

// readDomain reads the specification of a WebFetch rule: domain:h, domain:*.h, domain:*.
func readDomain(spec string) (string, error) {
	d, ok := strings.CutPrefix(spec, "domain:")
	if !ok {
		return "", errors.New("WebFetch takes domain:HOST")
	}
	if d == "*" || strings.HasPrefix(d, "[") && strings.HasSuffix(d, "]") {
		return strings.ToLower(d), nil
	}
	base, sub := strings.CutPrefix(d, "*.")
	h, err := readHostName(base)
	if err != nil {
		return "", errors.New("the host is not a name in ASCII; write punycode (xn--…)")
	}
	if sub {
		return "*." + h, nil
	}
	return h, nil
}

// covers reports whether an allow rule for domain covers h.
func (h host) covers(domain string) bool {
	return !h.unreadable && h.matches(domain) && (h.problem == "" || domain == h.name)
}

// matches is the plain comparison, which is all a deny or ask rule needs.
func (h host) matches(domain string) bool {
	if domain == "*" {
		return true
	}
	if base, sub := strings.CutPrefix(domain, "*"); sub {
		return strings.HasSuffix(h.name, base)
	}
	return h.name == domain
}
