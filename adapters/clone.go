package adapters

import (
	"bytes"
	"slices"
)

// Clone is a copy of the message that does not borrow from the line and lives as long as its holder likes.
func (m *Message) Clone() *Message {
	c := *m
	c.Raw, c.Text = bytes.Clone(m.Raw), bytes.Clone(m.Text)
	c.Blocks = clones(m.Blocks, Block.Clone)
	c.Results = clones(m.Results, ToolResult.Clone)
	c.Tasks = clones(m.Tasks, Task.Clone)
	if m.Task != nil {
		t := m.Task.Clone()
		c.Task = &t
	}
	c.Permission, c.Request, c.Response, c.Result = m.Permission.Clone(), m.Request.Clone(), m.Response.Clone(), m.Result.Clone()
	return &c // the other parts borrow nothing and are made anew for each line
}

func clones[T any](list []T, clone func(T) T) []T {
	if list == nil {
		return nil
	}
	c := make([]T, len(list))
	for i, v := range list {
		c[i] = clone(v)
	}
	return c
}

// Clone is a copy that borrows nothing.
func (b Block) Clone() Block {
	b.Text, b.Raw, b.ToolUse = bytes.Clone(b.Text), bytes.Clone(b.Raw), b.ToolUse.Clone()
	return b
}

// Clone is a copy that borrows nothing.
func (u ToolUse) Clone() ToolUse {
	u.Input = bytes.Clone(u.Input)
	return u
}

// Clone is a copy that borrows nothing.
func (r ToolResult) Clone() ToolResult {
	r.Content, r.Structured = bytes.Clone(r.Content), bytes.Clone(r.Structured)
	return r
}

// Clone is a copy that borrows nothing.
func (t Task) Clone() Task {
	t.Usage, t.LiveIDs = bytes.Clone(t.Usage), slices.Clone(t.LiveIDs)
	return t
}

// Clone is a copy that borrows nothing; nil of nil.
func (p *Permission) Clone() *Permission {
	if p == nil {
		return nil
	}
	c := *p
	c.Input = bytes.Clone(p.Input)
	return &c
}

// Clone is a copy that borrows nothing; nil of nil.
func (r *Request) Clone() *Request {
	if r == nil {
		return nil
	}
	c := *r
	c.Body = bytes.Clone(r.Body)
	if r.Hook != nil {
		h := *r.Hook
		h.Input = bytes.Clone(h.Input)
		c.Hook = &h
	}
	return &c
}

// Clone is a copy that borrows nothing; nil of nil.
func (r *Response) Clone() *Response {
	if r == nil {
		return nil
	}
	c := *r
	c.Body = bytes.Clone(r.Body)
	return &c
}

// Clone is a copy that borrows nothing; nil of nil.
func (r *Result) Clone() *Result {
	if r == nil {
		return nil
	}
	c := *r
	c.Text, c.ModelUsage, c.PermissionDenials = bytes.Clone(r.Text), bytes.Clone(r.ModelUsage), bytes.Clone(r.PermissionDenials)
	return &c
}
