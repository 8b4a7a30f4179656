package adapters

import (
	"encoding/json"
	"fmt"
)

// Before 1.0.110 a user message is a string or exactly one text block; anything else ends the CLI: "Expected message content to have
// exactly one item, got 2", "Expected message content to be a string or a text block." (1.0.22 and 1.0.60).

// Takes is part of Adapter.
func (b *baseline) Takes(content json.RawMessage) (refusal string) {
	if b.traits.ContentBlocks || !isArray(trim(content)) {
		return ""
	}
	for e := array(content); e.next(); {
		if kind := str(member(e.val, "type")); kind != "text" {
			return fmt.Sprintf("it takes text alone, and the message holds a block of type %q", kind)
		}
	}
	return ""
}

// oneText joins the text blocks of a message into one string, a blank line between them. A block that is no text leaves a mark: the
// bridge asks Takes first, and what slips through must not end the CLI.
func oneText(content json.RawMessage) json.RawMessage {
	if !isArray(trim(content)) || !valid(content) {
		return content
	}
	var joined string
	for e := array(content); e.next(); {
		text := member(e.val, "text")
		if joined != "" {
			joined += "\n\n"
		}
		if isString(text) {
			joined += str(text)
		} else {
			joined += "[" + str(member(e.val, "type")) + " left out]"
		}
	}
	return appendString(nil, joined)
}
