package scripted

import "strings"

// settings reads what stands before the first scene.
func (p *parser) settings(s *Script) error {
	for {
		st, ok, err := p.statement()
		if err != nil || !ok {
			return err
		}
		if err := p.setting(s, st); err != nil {
			return err
		}
	}
}

func (p *parser) setting(s *Script, st statement) error {
	var err error
	switch st.word {
	case "version":
		s.version = st.rest
	case "model":
		s.model = st.rest
	case "cwd":
		s.cwd = st.rest
	case "seed":
		var n int
		n, err = p.count(st.rest)
		s.seed = uint32(n)
	case "pace":
		s.pace, err = p.duration(st.rest)
	case "latency":
		s.latency, err = p.duration(st.rest)
	case "initialize":
		after, found := strings.CutPrefix(st.rest, "after ")
		if !found {
			return p.fail("initialize wants `after DURATION`")
		}
		s.initializeAfter, err = p.duration(after)
	case "never":
		if st.rest != "initialize" {
			return p.fail("never wants `initialize`")
		}
		s.ignore["initialize"] = true
	case "ignore":
		err = p.ignorable(st.rest)
		s.ignore[st.rest] = true
	case "real":
		s.real = true
	case "forget":
		s.forgetful = true
	case "unknown":
		s.unknownOptions = append(s.unknownOptions, strings.TrimPrefix(st.rest, "option "))
	case "mcp":
		name, status, _ := strings.Cut(st.rest, " ")
		if status == "" {
			status = "connected"
		}
		s.servers = append(s.servers, server{name, status})
	case "rewind":
		s.rewind = strings.Fields(st.rest)
	default:
		return p.fail("unknown setting %q", st.word)
	}
	return err
}
