package rpc

import (
	"drawbridge/bridge"
)

// Event implements bridge.Client.
func (s *Server) Event(session *bridge.Session, e bridge.Event) error {
	v := s.view(session)
	switch e := e.(type) {
	case bridge.TurnStarted:
		v.tell(turnStart, TurnStartParams{v.id, e.TurnID, e.Origin, e.UserMessageID})
		v.progress.begin()
	case bridge.TurnCompleted:
		if err := v.tokens.flush(); err != nil {
			return err
		}
		v.progress.end()
		v.tell(turnComplete, TurnCompleteParams{SessionID: v.id, TurnID: e.TurnID, Origin: e.Origin, Status: e.Status, StopReason: e.StopReason, UserMessageID: e.UserMessageID})
	case bridge.UsageReported:
		p := UsageReportParams{SessionID: v.id, Usage: e.Usage, CostUSD: e.CostUSD, TotalCostUSD: e.TotalCostUSD, ModelUsage: e.ModelUsage}
		if e.ContextWindow > 0 {
			p.ContextWindow = &ContextWindow{Used: e.ContextUsed, Size: int64(e.ContextWindow)}
		}
		v.tell(usageReport, p)
	case bridge.StateChanged:
		v.state(e.State)
	case bridge.SessionChanged:
		if id := e.Update.ClaudeSessionID; id != nil {
			v.claude = *id
		}
		v.tell(sessionUpdate, SessionUpdateParams{v.id, e.Update})
	case bridge.ToolAnnounced:
		if err := v.tokens.flush(); err != nil {
			return err
		}
		v.toolUse(e.MessageID, e.Block, &e.ToolUse, e.Parent)
	case bridge.PromptResolved:
		v.tell(promptResolved, PromptResolvedParams{v.id, e.PromptID, e.ToolUseID, e.Outcome, e.By, e.Rule, e.Message, e.Input})
	case bridge.ToolDecided:
		decision := "deny"
		if e.Decision == "allowed" || e.Decision == "answered" {
			decision = "allow"
		}
		v.decide(e.ToolUseID, &Permission{Decision: decision, By: e.By, Rule: e.Rule})
	case bridge.ToolDone:
		if v.done == nil {
			v.done = map[string]*bridge.Diff{}
		}
		v.done[e.ToolUseID] = e.Diff
	case bridge.Notice:
		v.notice(e)
	}
	return nil
}

// state tells what the session is at. A client without progress gets no more than its name, and that only when it changes.
func (v *view) state(now bridge.State) {
	if !v.s.client.Progress {
		if v.told == now.State {
			return
		}
		now = bridge.State{State: now.State}
	}
	v.told = now.State
	v.tell(statusChange, StatusChangeParams{v.id, now})
}

// notice tells the user something; an LSP client shows it in its log as well.
func (v *view) notice(n bridge.Notice) {
	v.tell(notice, NoticeParams{v.id, n.Level, n.Kind, n.Message, n.Remedy})
	text := n.Message
	if n.Remedy != "" {
		text += " " + n.Remedy
	}
	v.s.logMessage(n.Level, text)
}
