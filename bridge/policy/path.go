package policy

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"unicode"
)

// FS answers where symbolic links lead: os.Lstat and os.Readlink in the program, a map in tests. Names are absolute.
type FS interface {
	// Lstat describes the file itself. fs.ErrNotExist says that there is none; any other error makes the path unresolvable.
	Lstat(name string) (fs.FileInfo, error)
	// Readlink returns the target of a symbolic link as it stands there.
	Readlink(name string) (string, error)
}

// maxLinks is how many symbolic links one path may pass, as in Linux (path_resolution(7)).
const maxLinks = 40

// A place is a path twice: as written and where its symbolic links lead.
type place struct {
	written, real string
	// problem says why no rule may allow this path; empty if one may.
	problem string
}

// place makes raw absolute from base (empty: unknown) and resolves it. A tilde is expanded if the tool or shell would.
func (s *subject) place(raw, base string, tilde bool) place {
	p := place{written: raw, real: raw}
	fault := func(problem string) {
		if p.problem == "" {
			p.problem = problem
		}
	}
	if s.call.Windows {
		raw = strings.ReplaceAll(raw, `\`, "/")
	}
	if what, bad := strange(raw); bad || strings.Contains(raw, "\x00") {
		fault("the path holds " + what)
	}
	if raw == "" {
		fault("the path is empty")
		return p
	}
	if strings.HasPrefix(raw, "//") || strings.HasPrefix(raw, `\\`) {
		fault("the path names a network share")
	}
	full := raw
	switch {
	case tilde && (raw == "~" || strings.HasPrefix(raw, "~/")):
		full = s.call.Home + raw[1:]
		if s.call.Home == "" {
			fault("the home directory is not known")
		}
	case tilde && raw[0] == '~':
		fault("another user's home directory is not known")
	case !s.absolute(raw) && base == "":
		fault("the directory the path starts from is not known")
		full = "/" + raw
	case !s.absolute(raw):
		full = base + "/" + raw
	}
	p.written = s.clean(full)
	if drive := s.volume(p.written); strings.Contains(p.written[len(drive):], ":") {
		fault("the path holds a colon, which can name a stream of a file")
	}
	if s.call.Windows && shortName(p.written) {
		fault("the path has a form that Windows rewrites")
	}
	p.real = p.written
	if s.call.Remote {
		fault("the files are on another machine")
		return p
	}
	real, err := s.resolve(p.written)
	if err != nil {
		fault("the path cannot be resolved")
	} else {
		p.real = real
		// a/link/../b is not a/b to the kernel
		if direct, err := s.resolve(full); strings.Contains(full, "..") && (err != nil || direct != real) {
			fault("the path goes up from a symbolic link")
		}
	}
	for _, name := range []string{p.written, p.real} {
		if within(foldString(name), foldString("/proc"), foldString("/dev")) {
			fault("the path leads to a device or a process")
		}
	}
	return p
}

func (s *subject) absolute(p string) bool { return strings.HasPrefix(p, "/") || s.volume(p) != "" }

// volume returns the drive letter of a Windows path with its colon.
func (s *subject) volume(p string) string {
	if s.call.Windows && len(p) >= 3 && p[1] == ':' && p[2] == '/' {
		return p[:2]
	}
	return ""
}

func (s *subject) clean(p string) string {
	v := s.volume(p)
	return v + path.Clean("/"+p[len(v):])
}

// shortName reports the spellings under which Windows finds another name: 8.3 names, dots and blanks at the end.
func shortName(p string) bool {
	for part := range strings.SplitSeq(p, "/") {
		i := strings.IndexByte(part, '~')
		if i >= 0 && i+1 < len(part) && part[i+1] >= '0' && part[i+1] <= '9' || strings.TrimRight(part, ". ") != part {
			return true
		}
	}
	return false
}

var errUnresolvable = errors.New("policy: path cannot be resolved")

// resolve follows every symbolic link that exists; what does not exist is taken as it stands.
func (s *subject) resolve(p string) (string, error) {
	if s.fs == nil {
		return "", errUnresolvable
	}
	root := s.volume(p)
	done, missing := root, false
	rest := strings.Split(p[len(root):], "/")
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		if name == "" || name == "." {
			continue
		}
		if name == ".." {
			done = done[:max(strings.LastIndexByte(done, '/'), len(root))]
			continue
		}
		next := done + "/" + name
		if missing {
			done = next
			continue
		}
		info, err := s.fs.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			missing = true
		case err != nil:
			return "", errUnresolvable
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := s.fs.Readlink(next)
			if links++; err != nil || target == "" || links > maxLinks {
				return "", errUnresolvable
			}
			if s.call.Windows {
				target = strings.ReplaceAll(target, `\`, "/")
			}
			if s.absolute(target) {
				root = s.volume(target)
				done, target = root, target[len(root):]
			}
			rest = append(strings.Split(target, "/"), rest...)
			continue
		}
		done = next
	}
	if done == root {
		return root + "/", nil
	}
	return done, nil
}

// within reports that p is one of dirs or lies below it.
func within(p string, dirs ...string) bool {
	for _, dir := range dirs {
		if dir != "" && (p == dir || strings.HasPrefix(p, strings.TrimSuffix(dir, "/")+"/")) {
			return true
		}
	}
	return false
}

// bothForms returns a directory as written and resolved.
func (s *subject) bothForms(dir string) []string {
	if dir == "" {
		return nil
	}
	dir = s.clean(strings.ReplaceAll(dir, `\`, "/"))
	if real, err := s.resolve(dir); err == nil && real != dir && !s.call.Remote {
		return []string{dir, real}
	}
	return []string{dir}
}

// inWorkspace reports that both forms of a path lie in the session's folders.
func (s *subject) inWorkspace(p place) bool {
	return within(p.written, s.workspace...) && within(p.real, s.workspace...)
}

// protects reports that writing to p could make code run later, or that p holds keys.
func (s *subject) protects(p place) bool {
	for _, name := range []string{p.written, p.real} {
		text := foldText([]rune(name))
		for _, spec := range s.protected {
			if s.pathMatch(spec, text, true) != no {
				return true
			}
		}
	}
	return false
}

// A pathSpec is the specification of a path rule: a gitignore pattern and where it starts.
type pathSpec struct {
	anchor   byte // '/' the root of the file system, '~' home, 'r' the project's root, 'c' the session's directory
	up       int  // leading ../
	glob     []element
	folded   []element
	anyDepth bool // no inner slash: a deny or ask rule matches at any depth
	literal  bool // no wildcard at all
	below    bool // the last segment has no wildcard, so what it names is covered with everything in it
}

// readPathSpec reads //x, ~/x, /x, x and ./x.
func readPathSpec(text string) (*pathSpec, error) {
	s := &pathSpec{}
	text = strings.TrimSpace(text)
	switch {
	case strings.HasPrefix(text, "//"):
		s.anchor, text = '/', text[2:]
	case strings.HasPrefix(text, "~/"):
		s.anchor, text = '~', text[2:]
	case strings.HasPrefix(text, "/"):
		s.anchor, text = 'r', text[1:]
	default:
		s.anchor, text = 'c', strings.TrimPrefix(text, "./")
		for strings.HasPrefix(text, "../") {
			s.up, text = s.up+1, text[3:]
		}
	}
	dir := strings.HasSuffix(text, "/")
	text = strings.TrimSuffix(text, "/")
	if text == "" || strings.HasPrefix(text, "!") || text[0] == '~' && s.anchor == 'c' {
		return nil, errors.New("the path pattern cannot be read")
	}
	s.literal = true
	segments := strings.Split(text, "/")
	s.anyDepth = s.anchor == 'c' && s.up == 0 && len(segments) == 1
	for i, seg := range segments {
		if seg == "" || seg == "." || seg == ".." {
			return nil, errors.New("the path pattern has an empty, . or .. segment")
		}
		last := i == len(segments)-1
		if seg == "**" {
			s.literal = false
			if last {
				s.glob = append(s.glob, element{kind: star})
			} else {
				s.glob = append(s.glob, element{kind: dirsGate}, element{kind: dirs})
			}
			continue
		}
		elems, wild, err := globSegment([]rune(seg))
		if err != nil {
			return nil, err
		}
		s.glob = append(s.glob, elems...)
		s.literal = s.literal && !wild
		if last {
			s.below = !wild || dir
		} else {
			s.glob = append(s.glob, element{kind: literal, r: '/'})
		}
	}
	s.folded = make([]element, len(s.glob))
	for i, e := range s.glob {
		if e.kind == literal {
			e.r = foldRune(e.r)
		} else if set := e.set; set != nil {
			e.set = func(r rune) bool { return set(r) || anyCase(r, set) }
		}
		s.folded[i] = e
	}
	return s, nil
}

func anyCase(r rune, set func(rune) bool) bool {
	for c := unicode.SimpleFold(r); c != r; c = unicode.SimpleFold(c) {
		if set(c) {
			return true
		}
	}
	return false
}

// globSegment compiles what stands between two slashes.
func globSegment(seg []rune) (elems []element, wild bool, err error) {
	for i := 0; i < len(seg); i++ {
		switch r := seg[i]; r {
		case '*':
			wild = true
			if len(elems) == 0 || elems[len(elems)-1].kind != nameStar {
				elems = append(elems, element{kind: nameStar})
			}
		case '?':
			wild = true
			elems = append(elems, element{kind: oneOf, set: func(r rune) bool { return r != '/' }})
		case '[':
			n, set := globClass(seg[i+1:])
			if set == nil {
				return nil, false, errors.New("the path pattern has an open bracket")
			}
			wild = true
			elems = append(elems, element{kind: oneOf, set: set})
			i += n
		case '\\':
			if i++; i == len(seg) {
				return nil, false, errors.New("the path pattern ends in a backslash")
			}
			elems = append(elems, element{kind: literal, r: seg[i]})
		default:
			elems = append(elems, element{kind: literal, r: r})
		}
	}
	return elems, wild, nil
}

// globClass reads a bracket expression after its bracket and returns how many runes it took.
func globClass(text []rune) (int, func(rune) bool) {
	i, negated := 0, false
	if len(text) > 0 && (text[0] == '!' || text[0] == '^') {
		negated, i = true, 1
	}
	type span struct{ from, to rune }
	var spans []span
	for first := i; i < len(text); i++ {
		if text[i] == ']' && i > first {
			return i + 1, func(r rune) bool {
				in := false
				for _, s := range spans {
					in = in || s.from <= r && r <= s.to
				}
				return in != negated && r != '/'
			}
		}
		s := span{text[i], text[i]}
		if i+2 < len(text) && text[i+1] == '-' && text[i+2] != ']' {
			s.to = text[i+2]
			i += 2
		}
		spans = append(spans, s)
	}
	return 0, nil
}

// pathMatch compares one form of a path with a rule. Deny and ask rules (suspect) are compared without case and Unicode
// form, and cover what lies below a match; text must then be folded.
func (s *subject) pathMatch(spec *pathSpec, text []rune, suspect bool) certainty {
	starts := map[byte][]string{'/': {""}, '~': s.home, 'r': s.root, 'c': s.cwd}[spec.anchor]
	if len(starts) == 0 && suspect {
		return possible
	}
	best := no
	for _, dir := range starts {
		for range spec.up {
			dir = path.Dir(dir)
		}
		p := &pattern{tail: -1}
		prefix := strings.TrimSuffix(dir, "/") + "/"
		if s.call.Windows && spec.anchor == '/' {
			prefix = "" // C:/x, written //C:/x in a rule
		}
		for _, r := range prefix {
			p.elems = append(p.elems, element{kind: literal, r: foldIf(r, suspect)})
		}
		if suspect && spec.anyDepth {
			p.elems = append(p.elems, element{kind: dirsGate}, element{kind: dirs})
		}
		glob := spec.glob
		if suspect {
			glob = spec.folded
		}
		p.elems = append(p.elems, glob...)
		if spec.below || suspect {
			p.tail = len(p.elems)
			p.elems = append(p.elems, element{kind: literal, r: '/'}, element{kind: star})
		}
		best = max(best, p.match(text, &s.budget))
		if suspect && best == no && spec.hasNonASCII() {
			best = p.match(anyForm(text), &s.budget)
		}
	}
	return best
}

func (s *pathSpec) hasNonASCII() bool {
	for _, e := range s.glob {
		if e.kind == literal && e.r > unicode.MaxASCII {
			return true
		}
	}
	return false
}

// anyForm replaces every character that Unicode may write in more than one way by "any name": é and e + U+0301 are
// one name to some file systems. Without decomposition tables a suspicion is all there can be.
func anyForm(text []rune) []rune {
	var out []rune
	for _, r := range text {
		if r <= unicode.MaxASCII {
			out = append(out, r)
			continue
		}
		if n := len(out); unicode.Is(unicode.Mn, r) && n > 0 && out[n-1] != '/' {
			out = out[:n-1]
		}
		out = append(out, anyName)
	}
	return out
}
