package settings

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// List names one of the three lists of rules.
type List string

// The lists, as they are called in the file.
const (
	Allow List = "allow"
	Ask   List = "ask"
	Deny  List = "deny"
)

func (r Rules) list(l List) []Rule {
	switch l {
	case Allow:
		return r.Allow
	case Ask:
		return r.Ask
	case Deny:
		return r.Deny
	}
	return nil
}

// Scope says for what a saved rule holds.
type Scope struct{ project string }

// User is the scope of a rule that holds everywhere.
func User() Scope { return Scope{} }

// ProjectScope is the scope of a rule that holds for the project whose root has this real path.
func ProjectScope(realPath string) Scope { return Scope{filepath.Clean(realPath)} }

// path is where the scope's list stands in the user's file.
func (s Scope) path(l List) []string {
	if s.project == "" {
		return []string{"permissions", string(l)}
	}
	return []string{"projects", s.project, "permissions", string(l)}
}

func (s Scope) check() error {
	if s.project != "" && !filepath.IsAbs(s.project) {
		return fmt.Errorf("the project %s has no absolute path", quoted(s.project))
	}
	return nil
}

// AddRule saves a rule at the end of a list of the user's settings file, which is made if it is not there. All else
// in the file stays byte for byte. It waits for other programs that write the file, is on the disk when it returns,
// and refuses a file that does not parse. A rule that is already there is left as it is.
func AddRule(path string, scope Scope, list List, rule string) error {
	err := checkRule(list, rule)
	if err == nil {
		err = scope.check()
	}
	if err == nil {
		err = rewrite(path, func(text []byte) ([]byte, error) { return withElement(text, scope.path(list), rule) })
	}
	if err != nil {
		return fmt.Errorf("save the rule %s: %w", quoted(rule), err)
	}
	return nil
}

// RemoveRule takes a rule out of a list of the user's settings file, wherever it stands there. To remove a rule that
// is not there is no error.
func RemoveRule(path string, scope Scope, list List, rule string) error {
	err := checkRule(list, rule)
	if err == nil {
		err = rewrite(path, func(text []byte) ([]byte, error) { return withoutElement(text, scope.path(list), rule) })
	}
	if err != nil {
		return fmt.Errorf("remove the rule %s: %w", quoted(rule), err)
	}
	return nil
}

// SetTrusted saves whether the user trusts the project whose root has this real path.
func SetTrusted(path, realPath string, trusted bool) error {
	scope := ProjectScope(realPath)
	err := scope.check()
	if err == nil {
		err = rewrite(path, func(text []byte) ([]byte, error) {
			return withValue(text, []string{"projects", scope.project, "trusted"}, fmt.Sprint(trusted))
		})
	}
	if err != nil {
		return fmt.Errorf("save the trust in %s: %w", quoted(realPath), err)
	}
	return nil
}

func checkRule(l List, rule string) error {
	switch {
	case l != Allow && l != Ask && l != Deny:
		return fmt.Errorf("there is no list %s", quoted(string(l)))
	case strings.TrimSpace(rule) == "":
		return errors.New("it is empty")
	case !utf8.ValidString(rule) || strings.ContainsRune(rule, 0):
		return errors.New("it is no text")
	}
	return nil
}
