package main

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// The lines of the CLI, as 2.1.329 prints them (adapters/testdata has them from the real one): members, order and lengths matter
// for what it costs to read them.
const (
	claudeVersion = "2.1.329"

	sessionID = "42526058-ec79-4ed0-99f5-23ab8d38cf19"
	lineID    = "b46de105-d6b9-4abf-9786-6a8bbfab2b12"
	stampLine = `"session_id":"` + sessionID + `","parent_tool_use_id":null,"uuid":"` + lineID + `"`

	controlResponse  = `{"type":"control_response","response":{"subtype":"success","request_id":"%s","response":%s}}`
	initializeAnswer = `{"commands":[{"name":"compact","description":"Clear the history but keep a summary","argumentHint":""}],"agents":[{"name":"claude","description":"Catch-all"}],"models":[{"value":"default","displayName":"Default (recommended)","description":"The default model","supportedEffortLevels":["low"]}],"account":{"tokenSource":"none"},"pid":4711,"claude_code_version":"2.1.329","current_permission_mode":"default"}`

	systemInit   = `{"type":"system","subtype":"init","cwd":"/home/user/project","session_id":"` + sessionID + `","tools":["Task","AskUserQuestion","Bash","Edit","Read","Write"],"mcp_servers":[],"model":"claude-opus-5-5","permissionMode":"default","slash_commands":["compact"],"apiKeySource":"ANTHROPIC_API_KEY","claude_code_version":"2.1.329","output_style":"default","agents":["claude"],"uuid":"` + lineID + `"}`
	statusLine   = `{"type":"system","subtype":"status","status":"requesting","session_id":"` + sessionID + `","uuid":"` + lineID + `"}`
	echo         = `{"type":"user","message":{"role":"user","content":%s},"session_id":"` + sessionID + `","parent_tool_use_id":null,"uuid":"%s","isReplay":true}`
	messageStart = `{"type":"stream_event","event":{"type":"message_start","message":{"id":"%[1]s","type":"message","role":"assistant","model":"claude-opus-5-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":10,"output_tokens":5}}},` + stampLine + `,"ttft_ms":10,"api_message_id":"%[1]s"}`
	blockStart   = `{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}},` + stampLine + `,"api_message_id":"%s"}`
	textDelta    = `{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"%s"}},` + stampLine + `,"api_message_id":"%s"}`
	blockStop    = `{"type":"stream_event","event":{"type":"content_block_stop","index":0},` + stampLine + `,"api_message_id":"%s"}`
	toolUse      = `{"type":"assistant","message":{"id":"%s","type":"message","role":"assistant","model":"claude-opus-5-5","content":[{"type":"tool_use","id":"%s","name":"Bash","input":{"command":"touch it","description":"Make a file"}}],"stop_reason":null},` + stampLine + `}`
	question     = `{"type":"control_request","request_id":"ask-%s","request":{"subtype":"can_use_tool","tool_name":"Bash","display_name":"Bash","input":{"command":"touch ` + askMark + `%s","description":"Make a file"},"description":"Make a file","permission_suggestions":[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"touch:*"}],"behavior":"allow","destination":"localSettings"}],"tool_use_id":"%s"}}`
	toolResult   = `{"type":"user","message":{"role":"user","content":[{"tool_use_id":"%s","type":"tool_result","content":"made","is_error":false}]},` + stampLine + `,"tool_use_result":{"stdout":"made","stderr":"","interrupted":false}}`
	turnResult   = `{"type":"result","subtype":"success","is_error":false,"duration_ms":113,"duration_api_ms":29,"num_turns":1,"result":%s,"stop_reason":"end_turn","session_id":"` + sessionID + `","total_cost_usd":0.00044,"usage":{"input_tokens":10,"output_tokens":20},"permission_denials":[],"terminal_reason":"completed","user_message_uuids":["%s"],"uuid":"` + lineID + `"}`

	askMark = "stamp-"
)

func token(message, text string) string { return fmt.Sprintf(textDelta, text, message) }

func stamp(ns int64) string { return strconv.FormatInt(ns, 10) }

// numbered is a token of a flood: " 0000000 ", as long as a word.
func numbered(n int) string { return fmt.Sprintf(" %0*d ", numberLen, n) }

const numberLen = 8

func putDecimal(dst []byte, n int) {
	for i := len(dst) - 1; i >= 0; i-- {
		dst[i] = byte('0' + n%10)
		n /= 10
	}
}

func quote(s string) string {
	b, _ := json.Marshal(s) // a string always can
	return string(b)
}
