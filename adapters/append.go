package adapters

import (
	"encoding/json"
	"unicode/utf8"
)

// Everything written to the CLI is one line: it reads up to the newline, and a line that is not JSON, or one of a type it does not
// know, ends the older ones (up to 2.1.17) on the spot. So nothing that is handed in can break the framing: JSON is checked, and the
// newlines that may stand between its tokens become blanks. Otherwise it is passed on byte for byte.

// AppendUser appends the line of a user message. Content that is not JSON is sent as an empty text.
func (b *baseline) AppendUser(dst []byte, u UserMessage) []byte {
	if !b.traits.ContentBlocks {
		u.Content = oneText(u.Content)
	}
	dst = append(dst, `{"type":"user","message":{"role":"user","content":`...)
	dst = appendJSON(dst, u.Content, `""`)
	dst = append(dst, `},"parent_tool_use_id":null,"session_id":""`...)
	if u.UUID != "" {
		dst = append(dst, `,"uuid":`...)
		dst = appendString(dst, u.UUID)
	}
	return append(dst, "}\n"...)
}

// AppendControl appends a control request of the host.
func (b *baseline) AppendControl(dst []byte, requestID string, c Control) []byte {
	dst = append(dst, `{"type":"control_request","request_id":`...)
	dst = appendString(dst, requestID)
	dst = append(dst, `,"request":{"subtype":`...)
	dst = appendString(dst, c.Subtype)
	if valid(c.Members) {
		for o := object(c.Members); o.next(); {
			if string(o.key) == "subtype" {
				continue
			}
			dst = append(dst, ',')
			dst = appendString(dst, string(o.key))
			dst = append(dst, ':')
			dst = appendJSON(dst, o.val, "null")
		}
	}
	return append(dst, "}}\n"...)
}

// AppendAllow lets a tool run with input. An input that is no JSON object is sent as a denial: to run the original instead would run
// what nobody has approved.
func (b *baseline) AppendAllow(dst []byte, p *Permission, input json.RawMessage, mode string) []byte {
	if in := trim(input); !isObject(in) || !valid(in) {
		return b.AppendDeny(dst, p, "The permission was given with an input that could not be read, so the tool was not run.", false)
	}
	dst = appendReplyHead(dst, p.RequestID)
	dst = append(dst, `{"behavior":"allow","updatedInput":`...)
	dst = appendJSON(dst, input, "{}")
	if mode != "" {
		dst = append(dst, `,"updatedPermissions":[{"type":"setMode","mode":`...)
		dst = appendString(dst, mode)
		dst = append(dst, `,"destination":"session"}]`...)
	}
	return append(dst, "}}}\n"...)
}

// AppendDeny refuses a tool. Without a message every CLI takes the answer for a broken one and tells the model so.
func (b *baseline) AppendDeny(dst []byte, p *Permission, message string, interrupt bool) []byte {
	if message == "" {
		message = "The user did not allow this."
	}
	dst = appendReplyHead(dst, p.RequestID)
	dst = append(dst, `{"behavior":"deny","message":`...)
	dst = appendString(dst, message)
	if interrupt {
		dst = append(dst, `,"interrupt":true`...)
	}
	return append(dst, "}}}\n"...)
}

// AppendReply answers a request of the CLI; a body that is not JSON is sent as an empty object.
func (b *baseline) AppendReply(dst []byte, requestID string, body json.RawMessage) []byte {
	dst = appendReplyHead(dst, requestID)
	dst = appendJSON(dst, body, "{}")
	return append(dst, "}}\n"...)
}

// AppendRefusal answers it with an error.
func (b *baseline) AppendRefusal(dst []byte, requestID, message string) []byte {
	if message == "" {
		message = "not supported"
	}
	dst = append(dst, `{"type":"control_response","response":{"subtype":"error","request_id":`...)
	dst = appendString(dst, requestID)
	dst = append(dst, `,"error":`...)
	dst = appendString(dst, message)
	return append(dst, "}}\n"...)
}

func appendReplyHead(dst []byte, requestID string) []byte {
	dst = append(dst, `{"type":"control_response","response":{"subtype":"success","request_id":`...)
	dst = appendString(dst, requestID)
	return append(dst, `,"response":`...)
}

// appendJSON appends raw on one line, or instead what is given for raw that is not JSON.
func appendJSON(dst, raw []byte, instead string) []byte {
	if !valid(raw) {
		return append(dst, instead...)
	}
	start := len(dst)
	dst = append(dst, raw...)
	for i := start; i < len(dst); i++ {
		if dst[i] == '\n' || dst[i] == '\r' { // only between tokens: inside a string they are escaped
			dst[i] = ' '
		}
	}
	return dst
}

// appendString appends s as a JSON string. What is not UTF-8 in it becomes U+FFFD.
func appendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, `\n`...)
		case c == '\r':
			dst = append(dst, `\r`...)
		case c == '\t':
			dst = append(dst, `\t`...)
		case c < 0x20 || c == 0x7f:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		case c < utf8.RuneSelf:
			dst = append(dst, c)
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			switch {
			case r == utf8.RuneError && size == 1:
				dst = append(dst, "\ufffd"...)
			case r == '\u2028' || r == '\u2029': // newlines to some readers
				dst = append(dst, '\\', 'u', '2', '0', '2', hex[r&15])
			default:
				dst = append(dst, s[i:i+size]...)
			}
			i += size
			continue
		}
		i++
	}
	return append(dst, '"')
}
