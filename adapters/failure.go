package adapters

import (
	"cmp"
	"strings"
)

// apiError is what the CLI told of a failed API call, partly on the synthetic assistant line, partly on the result.
type apiError struct {
	status   int    // HTTP status, 0 if not told
	apiType  string // invalid_request_error, … (2.1.329)
	kind     string // authentication_failed, rate_limit, … (2.1.17 on)
	terminal string // terminal_reason
	text     string
}

func (e apiError) failure(subtype string) *Failure {
	if e.status == 0 {
		e.status = statusIn(e.text)
	}
	f := &Failure{Message: e.text, APIStatus: e.status}
	if f.Message == "" {
		f.Message = "Claude ended the turn with an error and did not say which"
		if subtype != "success" && subtype != "" {
			f.Message += " (" + subtype + ")"
		}
	}
	connection := kindOfText(e.text)
	if connection != "connection" {
		connection = ""
	}
	// A refused connection is called a server_error by 2.1.329, and only its text says better.
	f.Kind = cmp.Or(kindOfStatus(e.status), kindOfType(e.apiType), connection, kindOfError(e.kind), kindOfTerminal(e.terminal), kindOfText(e.text), "other")
	return f
}

// statusIn finds the HTTP status in the text of versions that tell it nowhere else: "API Error: 400 {…}".
func statusIn(text string) int {
	_, after, ok := strings.Cut(text, "API Error: ")
	if !ok {
		return 0
	}
	if _, rest, repeated := strings.Cut(after, "Repeated "); repeated {
		after = rest // "API Error: Repeated 529 Overloaded errors"
	}
	if len(after) < 3 || after[0] < '4' || after[0] > '5' || len(after) > 3 && after[3] >= '0' && after[3] <= '9' {
		return 0
	}
	return int(integer([]byte(after[:3])))
}

func kindOfStatus(status int) string {
	switch {
	case status == 401 || status == 403:
		return "not_authenticated"
	case status == 413:
		return "too_large"
	case status == 429:
		return "rate_limited"
	case status == 529:
		return "overloaded"
	case status >= 500:
		return "server_error"
	case status >= 400:
		return "invalid_request"
	}
	return ""
}

func kindOfType(apiType string) string {
	switch apiType {
	case "authentication_error", "permission_error":
		return "not_authenticated"
	case "rate_limit_error":
		return "rate_limited"
	case "overloaded_error":
		return "overloaded"
	case "request_too_large":
		return "too_large"
	case "invalid_request_error", "not_found_error":
		return "invalid_request"
	case "api_error", "timeout_error":
		return "server_error"
	}
	return ""
}

func kindOfError(kind string) string {
	switch kind {
	case "authentication_failed", "oauth_org_not_allowed", "account_on_hold", "verification_required", "cloud_credential_error":
		return "not_authenticated"
	case "rate_limit":
		return "rate_limited"
	case "overloaded":
		return "overloaded"
	case "server_error":
		return "server_error"
	case "model_not_found":
		return "invalid_request"
	}
	return "" // invalid_request is said of too large ones also; unknown says nothing
}

func kindOfTerminal(terminal string) string {
	switch terminal {
	case "prompt_too_long", "blocking_limit":
		return "too_large"
	}
	return ""
}

// kindOfText reads the sentences of the CLI. It comes last: they change.
func kindOfText(text string) string {
	text = strings.ToLower(text)
	for _, t := range []struct{ part, kind string }{
		{"too long", "too_large"},
		{"too large", "too_large"},
		{"/login", "not_authenticated"},
		{"authenticat", "not_authenticated"},
		{"api key", "not_authenticated"},
		{"oauth", "not_authenticated"},
		{"overloaded", "overloaded"},
		{"rate limit", "rate_limited"},
		{"limit reached", "rate_limited"},
		{"hit your", "rate_limited"},
		{"connection", "connection"},
		{"connect to api", "connection"},
		{"econn", "connection"},
		{"enotfound", "connection"},
		{"etimedout", "connection"},
		{"timed out", "connection"},
		{"fetch failed", "connection"},
		{"internal server error", "server_error"},
	} {
		if strings.Contains(text, t.part) {
			return t.kind
		}
	}
	return ""
}
