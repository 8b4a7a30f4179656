package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"go.lsp.dev/jsonrpc2"
)

// codec reads and writes params and results. It is encoding/json instead of the library's json/v2 for three reasons: v2 refuses
// invalid UTF-8 and duplicate names, which editors send; v2's omitempty keeps zeros, which we leave out; and the types of package
// bridge are tagged for encoding/json.
type codec struct{}

func (codec) Marshal(v any) ([]byte, error) {
	switch raw := v.(type) {
	case jsonrpc2.RawMessage:
		return wholePairs(raw), nil
	case json.RawMessage:
		return wholePairs(raw), nil
	}
	b, err := marshal(v)
	if err != nil {
		return nil, err
	}
	return wholePairs(b), nil
}

func (codec) Unmarshal(data []byte, v any) error {
	if raw, ok := v.(*jsonrpc2.RawMessage); ok {
		*raw = bytes.Clone(data)
		return nil
	}
	return unmarshal(data, v)
}

// marshal is json.Marshal without its escaping for HTML, so that raw members stay as they are. The result is one line.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// decodeParams reads the params of a request into v. Absent, null, [] and [null] are {}: Lua and Vim clients cannot tell them apart.
func decodeParams(params []byte, v any) error {
	if isEmptyParams(params) {
		params = []byte("{}")
	}
	if err := unmarshal(params, v); err != nil {
		return &jsonrpc2.Error{Code: jsonrpc2.InvalidParams, Message: "The params cannot be read: " + err.Error(),
			Data: errorData(kindInvalidParams, "Compare them with docs/protocol.md.")}
	}
	return nil
}

// unmarshal is json.Unmarshal that takes [] for an empty object and {} for an empty list, wherever they stand: an empty Lua table
// is both.
func unmarshal(data []byte, v any) error {
	for {
		err := json.Unmarshal(data, v)
		var wrong *json.UnmarshalTypeError
		if !errors.As(err, &wrong) {
			return err
		}
		swapped, ok := swapEmpty(data, int(wrong.Offset))
		if !ok {
			return fmt.Errorf("%s is a JSON %s", fieldName(wrong), wrong.Value)
		}
		data = swapped
	}
}

func fieldName(e *json.UnmarshalTypeError) string {
	if e.Field == "" {
		return "the whole"
	}
	return e.Field
}

// swapEmpty exchanges the empty container that was opened just before offset, where encoding/json found it to be of the wrong kind.
func swapEmpty(data []byte, offset int) ([]byte, bool) {
	begin := offset - 1
	if begin < 0 || begin >= len(data) {
		return nil, false
	}
	end := begin + 1
	for end < len(data) && isBlank(data[end]) {
		end++
	}
	if end == len(data) {
		return nil, false
	}
	swapped := ""
	switch {
	case data[begin] == '[' && data[end] == ']':
		swapped = "{}"
	case data[begin] == '{' && data[end] == '}':
		swapped = "[]"
	default:
		return nil, false
	}
	data = bytes.Clone(data)
	data[begin], data[end] = swapped[0], swapped[1]
	return data, true
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// isEmptyParams reports whether params hold nothing, in any of the ways in which clients say so.
func isEmptyParams(params []byte) bool {
	const longest = 64 // with white space between the brackets
	if len(params) > longest {
		return false
	}
	switch string(bytes.Join(bytes.Fields(params), nil)) {
	case "", "null", "[]", "[null]":
		return true
	}
	return false
}
