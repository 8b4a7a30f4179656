package rpc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"drawbridge/bridge"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
	"go.uber.org/zap"
)

// client is what an editor has said of itself.
type client struct {
	Capabilities
	info    Peer
	version string // of the protocol, as spoken

	lsp          bool // it sent LSP's InitializeParams, so the answer has LSP's shape
	showMessage  bool // LSP: window.showMessage.messageActionItem
	workProgress bool // LSP: window.workDoneProgress
}

// canAsk: permission questions reach the user, in our own form or as a message with buttons.
func (c *client) canAsk() bool { return c.Permissions || c.showMessage }

// greetingParams is what both forms of initialize come down to.
type greetingParams struct {
	client    client
	processID int
	options   SessionOptions
	trace     protocol.TraceValue
}

// initialize answers at once: it finds out nothing and starts nothing. Everything is decided before the reader goes on.
func (s *Server) initialize(c *call) (any, error) {
	if s.state != uninitialized {
		return nil, failure(jsonrpc2.InvalidRequest, bridge.KindInvalidRequest, "initialize was sent before.", "Send it once for each connection.")
	}
	p, err := s.readInitialize(c)
	if err != nil {
		return nil, err
	}
	s.adapt(&p)
	session, err := s.begin(s.ctx, p.options)
	if err != nil {
		return nil, err
	}
	p.options.Resume, p.options.Continue = "", false
	s.state = initialized
	s.defaults = p.options
	s.log.Info("initialized", zap.String("client", p.client.info.Name), zap.String("client_version", p.client.info.Version),
		zap.Bool("lsp", p.client.lsp), zap.Any("capabilities", p.client.Capabilities))
	s.watchParent(p.processID)
	c.async()
	c.afterResponse(func() {
		s.greeting.out()
		if p.options.Prewarm {
			session.Start()
		}
	})
	return s.answerInitialize(session), nil
}

// adapt takes what the client can do into the options of its sessions.
func (s *Server) adapt(p *greetingParams) {
	s.client = p.client
	s.trace.set(p.trace)
	o := &p.options
	o.Diffs = p.client.Diffs
	o.Streaming, o.CanAsk, o.CanAnswer = p.client.Streaming, p.client.canAsk(), p.client.Questions
	o.PermissionTimeout = time.Duration(o.PermissionTimeoutS * float64(time.Second))
	o.IdleStop = time.Duration(o.IdleStopS * float64(time.Second))
	o.MinAnswer = time.Duration(o.MinAnswerMS * float64(time.Millisecond))
}

// readInitialize tells the forms apart by one field: params with protocol_version are ours, all others are LSP's. ACP's have a
// numeric protocolVersion and belong to another subcommand.
func (s *Server) readInitialize(c *call) (p greetingParams, err error) {
	var form struct {
		Ours json.RawMessage `json:"protocol_version"`
		ACP  json.RawMessage `json:"protocolVersion"`
	}
	if err := c.decode(&form); err != nil {
		return p, err
	}
	p.options.SessionOptions, p.options.Prewarm = cloneOptions(s.options.Session), s.options.Prewarm
	p.options.PermissionTimeoutS = s.options.Session.PermissionTimeout.Seconds()
	p.options.IdleStopS = s.options.Session.IdleStop.Seconds()
	p.options.MinAnswerMS = float64(s.options.Session.MinAnswer.Milliseconds())
	switch {
	case form.Ours != nil:
		err = readOurs(c, &p)
	case len(form.ACP) > 0 && form.ACP[0] >= '0' && form.ACP[0] <= '9':
		err = failure(jsonrpc2.InvalidParams, kindProtocolVersion, "This is the initialize of the Agent Client Protocol.",
			"Launch `drawbridge acp` instead of `drawbridge serve`.")
	default:
		err = readLSP(c, &p)
	}
	return p, err
}

func readOurs(c *call, p *greetingParams) error {
	params := InitializeParams{Options: p.options}
	if err := c.decode(&params); err != nil {
		return err
	}
	version, err := negotiate(params.ProtocolVersion)
	if err != nil {
		return err
	}
	p.client = client{Capabilities: params.Capabilities, info: params.ClientInfo, version: version}
	p.processID = params.ProcessID
	p.options = params.Options
	if p.options.CWD == "" || params.CWD != "" {
		p.options.CWD = params.CWD
	}
	return nil
}

// readLSP reads LSP's InitializeParams. What is ours stands in capabilities.experimental.drawbridge and initializationOptions.
func readLSP(c *call, p *greetingParams) error {
	raw := c.req.Params()
	if isEmptyParams(raw) {
		raw = []byte("{}")
	}
	var params protocol.InitializeParams
	if err := protocol.Unmarshal(bytes.Clone(raw), &params); err != nil {
		return failure(jsonrpc2.InvalidParams, kindInvalidParams, "The params are neither ours nor LSP's: "+err.Error(),
			`Give "protocol_version", or LSP's InitializeParams.`)
	}
	p.client = client{lsp: true, version: ProtocolVersion}
	p.client.info.Name = params.ClientInfo.Name
	if v, ok := params.ClientInfo.Version.Get(); ok {
		p.client.info.Version = v
	}
	if w := params.Capabilities.Window; w != nil {
		p.client.workProgress = w.WorkDoneProgress != nil && *w.WorkDoneProgress
		p.client.showMessage = w.ShowMessage != nil && w.ShowMessage.MessageActionItem != nil
	}
	if err := p.client.readExperimental(params.Capabilities.Experimental); err != nil {
		return err
	}
	if len(params.InitializationOptions) > 0 {
		if err := decodeParams(params.InitializationOptions, &p.options); err != nil {
			return err
		}
	}
	if params.ProcessID != nil {
		p.processID = int(*params.ProcessID)
	}
	p.trace = params.Trace
	p.takeFolders(&params)
	return nil
}

func (c *client) readExperimental(raw []byte) error {
	var experimental struct {
		Drawbridge *struct {
			ProtocolVersion string       `json:"protocol_version"`
			Capabilities    Capabilities `json:"capabilities"`
		} `json:"drawbridge"`
	}
	if len(raw) == 0 || unmarshal(raw, &experimental) != nil || experimental.Drawbridge == nil {
		return nil // an editor that does not know us
	}
	c.Capabilities = experimental.Drawbridge.Capabilities
	if experimental.Drawbridge.ProtocolVersion == "" {
		return nil
	}
	version, err := negotiate(experimental.Drawbridge.ProtocolVersion)
	c.version = version
	return err
}

// takeFolders makes the first workspace folder the directory of the session, unless the options name one, and adds the others.
func (p *greetingParams) takeFolders(params *protocol.InitializeParams) {
	var dirs []string
	//lint:ignore SA1019 editors without workspace folders send these
	root, path := params.RootURI, params.RootPath
	if root != nil {
		dirs = append(dirs, folderPath(*root))
	} else if path, ok := path.Get(); ok {
		dirs = append(dirs, path)
	}
	folders, _ := params.WorkspaceFolders.Get()
	for _, f := range folders {
		dirs = append(dirs, folderPath(f.URI))
	}
	for _, dir := range dirs {
		switch {
		case dir == "":
		case p.options.CWD == "":
			p.options.CWD = dir
		case dir != p.options.CWD && !slices.Contains(p.options.AddDirs, dir):
			p.options.AddDirs = append(p.options.AddDirs, dir)
		}
	}
}

// folderPath is the path of a file URI, "" of any other: a folder on another machine is none that claude could work in.
func folderPath(u uri.URI) string {
	if !strings.HasPrefix(string(u), "file:") {
		return ""
	}
	return u.FsPath()
}

// negotiate returns the version to speak with a client that speaks asked.
func negotiate(asked string) (string, error) {
	major, minor, _ := strings.Cut(ProtocolVersion, ".")
	askedMajor, askedMinor, _ := strings.Cut(asked, ".")
	theirs, err := strconv.Atoi(askedMinor)
	if askedMinor == "" {
		theirs, err = 0, nil
	}
	if askedMajor != major || err != nil || theirs < 0 {
		return "", &jsonrpc2.Error{Code: jsonrpc2.InvalidParams,
			Message: fmt.Sprintf("Protocol version %q is not spoken here.", asked),
			Data: encodeData(errorDetails{Kind: kindProtocolVersion, Supported: []string{ProtocolVersion},
				Remedy: "Update drawbridge or the editor's plugin, whichever is older."})}
	}
	ours, _ := strconv.Atoi(minor)
	return major + "." + strconv.Itoa(min(ours, theirs)), nil
}

// answerInitialize is the answer in the form that the client speaks.
func (s *Server) answerInitialize(session *bridge.Session) any {
	known := session.Snapshot().Update
	tools, servers := s.bridge.LastSeen(session.CWD())
	result := InitializeResult{
		ProtocolVersion: s.client.version,
		ServerInfo:      Peer{Name: "drawbridge", Version: s.options.Bridge.Version},
		SessionID:       session.ID(),
		Capabilities: ServerCapability{Capabilities: s.client.Capabilities, Tools: list(tools), MCPServers: servers,
			Modes: list(known.Modes), Sessions: s.pastMethods(), Controls: list(known.Controls), MaxPayloadBytes: s.maxPayload()},
		ClaudeCode: s.bridge.Claude(),
	}
	if !s.client.lsp {
		return result
	}
	return map[string]any{
		"serverInfo":   result.ServerInfo,
		"capabilities": map[string]any{"experimental": map[string]any{"drawbridge": result}},
	}
}

// pastMethods says what can be done with the conversations of before.
func (s *Server) pastMethods() []string {
	if !s.bridge.HasPast() {
		return []string{}
	}
	return []string{"list", "resume", "fork", "history"}
}

// maxPayload is the limit of a message, in bytes, as the user has set it.
func (s *Server) maxPayload() int64 {
	if limit := s.options.Bridge.MaxPayloadBytes; limit > 0 {
		return limit
	}
	return bridge.DefaultMaxPayload
}

// list is l, never null on the wire.
func list[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}
