--- The protocol between the editor and the bridge, as docs/protocol.md describes it: the twin of rpc/protocol.go. Unknown fields are
--- ignored, absent ones are nil.
local M = {}

M.version = "1.0"

--- Requests of the editor.
M.request = {
  initialize = "initialize",
  shutdown = "shutdown",
  user_message = "user_message",
  interrupt = "interrupt",
  rewind_files = "rewind_files",
  task_stop = "task_stop",
  session_new = "session_new",
  session_get = "session_get",
  session_close = "session_close",
  session_list = "session_list",
  session_resume = "session_resume",
  session_history = "session_history",
  session_rename = "session_rename",
  session_delete = "session_delete",
  set_permission_mode = "set_permission_mode",
  set_model = "set_model",
  mcp_status = "mcp_status",
  context_usage = "context_usage",
  permission_rules = "permission_rules",
  permission_revoke = "permission_revoke",
  usage = "usage",
  health = "health",
}

--- Notifications to the editor.
M.notification = {
  turn_start = "turn_start",
  assistant_token = "assistant_token",
  thinking_token = "thinking_token",
  assistant_message = "assistant_message",
  message_discarded = "message_discarded",
  tool_use_start = "tool_use_start",
  tool_progress = "tool_progress",
  tool_result = "tool_result",
  prompt_resolved = "prompt_resolved",
  task_update = "task_update",
  todo_update = "todo_update",
  turn_complete = "turn_complete",
  usage_report = "usage_report",
  status_change = "status_change",
  session_update = "session_update",
  conversation_boundary = "conversation_boundary",
  notice = "notice",
}

--- Requests to the editor.
M.question = {
  permission_request = "permission_request",
  ask_user_question = "ask_user_question",
}

--- Codes of errors the editor answers with; vim.lsp.rpc takes no others.
M.code = {
  method_not_found = vim.lsp.protocol.ErrorCodes.MethodNotFound,
  internal_error = vim.lsp.protocol.ErrorCodes.InternalError,
  request_cancelled = vim.lsp.protocol.ErrorCodes.RequestCancelled,
}

---@class drawbridge.InitializeResult
---@field protocol_version string
---@field server_info { name: string, version: string }
---@field session_id string
---@field capabilities drawbridge.Capabilities
---@field claude_code drawbridge.ClaudeCode

---@class drawbridge.Capabilities
---@field sessions? ("list"|"resume"|"fork"|"history")[] absent: the bridge keeps no sessions
---@field modes string[]
---@field controls string[]

---@class drawbridge.ClaudeCode
---@field version? string
---@field path? string
---@field level "unknown"|"fully_compatible"|"likely_compatible"|"degraded"|"incompatible"|"missing"
---@field message string
---@field remedy? string

--- All that is known of a session: the result of session_new, session_get and session_resume. The fields of session_update are those
--- of this table that have changed.
---@class drawbridge.SessionState
---@field session_id string
---@field claude_code? drawbridge.ClaudeCode
---@field claude_session_id? string
---@field model? string
---@field permission_mode? string
---@field modes? string[]
---@field controls? string[]
---@field tools? string[]
---@field mcp_servers? { name: string, status: string, error?: string }[]
---@field commands? { name: string, description: string, argument_hint?: string }[]
---@field models? { value: string, name: string, description: string }[]
---@field agents? string[]
---@field title? string
---@field cwd? string
---@field trust? { trusted: boolean, off?: string[] }
---@field queue? { user_message_id: string, content: drawbridge.Content }[]
---@field state? drawbridge.Status
---@field prompts? (drawbridge.PermissionRequest|drawbridge.QuestionRequest)[]
---@field tasks? table[]

---@alias drawbridge.Content string|{ type: string, text?: string }[]

---@class drawbridge.Status
---@field state "starting"|"idle"|"running"|"waiting_permission"|"waiting_answer"|"retrying"|"interrupting"|"compacting"|"exited"
---@field quiet_ms? integer
---@field attempt? integer
---@field max_attempts? integer
---@field delay_ms? integer
---@field error? string
---@field exit_code? integer
---@field message? string
---@field remedy? string

---@class drawbridge.Failure what failed: error.data of a response, and `error` of a failed turn
---@field kind string
---@field message? string
---@field remedy? string
---@field exit_code? integer
---@field stderr_tail? string

---@class drawbridge.TurnResult
---@field status "completed"|"cancelled"|"failed"
---@field stop_reason string
---@field error? drawbridge.Failure
---@field duration_ms? integer
---@field cost_usd? number

---@class drawbridge.ContextItem
---@field uri string
---@field range? { start: { line: integer, character: integer }, ["end"]: { line: integer, character: integer } }
---@field text? string
---@field kind "selection"|"file"|"diagnostics"

---@class drawbridge.ToolUse
---@field message_id string
---@field block integer
---@field tool_use_id string
---@field name string
---@field input table
---@field title string plain text, nothing in it is invisible
---@field kind "read"|"edit"|"execute"|"search"|"fetch"|"think"|"switch_mode"|"other"
---@field locations { path: string, line?: integer }[]
---@field parent_tool_use_id? string

---@class drawbridge.ToolResult
---@field tool_use_id string
---@field outcome "ok"|"error"|"denied"|"interrupted"|"background"
---@field content? string|{ type: string, text?: string }[]
---@field is_error boolean
---@field diff? drawbridge.Diff
---@field permission? { decision: string, by: string, rule?: string }
---@field truncated? { original_bytes: integer }
---@field parent_tool_use_id? string

---@class drawbridge.Diff
---@field path string
---@field old_text? string absent: the file is new
---@field new_text? string
---@field exists? boolean
---@field eol? string[]
---@field final_newline? boolean[]
---@field symlink_target? string
---@field omitted_bytes? integer

---@alias drawbridge.Scope "once"|"session"|"project"|"user"

---@class drawbridge.PermissionRequest
---@field session_id string
---@field prompt_id string
---@field tool_use_id string
---@field tool string
---@field kind string
---@field title string
---@field input table
---@field command? string
---@field display string
---@field description? string the model's claim
---@field parts? { display: string, verdict: string }[]
---@field editable string[]
---@field flags? string[]
---@field risk_level? "low"|"medium"|"high"
---@field reason { source: string, text: string, rule?: string, file?: string }
---@field scopes drawbridge.Scope[]
---@field rules? string[]
---@field modes string[]
---@field saved_to? table<string, string>
---@field diff? drawbridge.Diff
---@field plan? string
---@field blocked_path? string
---@field parent_tool_use_id? string
---@field again? "too_early"|"changed"|"denied_by_rule"

---@class drawbridge.PermissionAnswer
---@field prompt_id string
---@field decision "allow"|"deny"
---@field scope? drawbridge.Scope
---@field rules? string[]
---@field permission_mode? string
---@field updated_input? table
---@field updated_text? string
---@field message? string
---@field interrupt? boolean

---@class drawbridge.QuestionRequest
---@field session_id string
---@field prompt_id string
---@field tool_use_id string
---@field parent_tool_use_id? string
---@field questions { question: string, header: string, multi_select: boolean, options: { label: string, description: string }[] }[]

---@class drawbridge.PromptResolved
---@field prompt_id string
---@field tool_use_id string
---@field outcome "allowed"|"denied"|"answered"|"declined"|"withdrawn"
---@field by "user"|"rule"|"grant"|"timeout"|"interrupt"|"claude"|"session_closed"|"error"
---@field rule? string
---@field message? string

---@class drawbridge.SessionRow a row of session_list
---@field session_id string Claude's id of the conversation
---@field open_as? string
---@field title string
---@field cwd string
---@field updated_at string
---@field turns integer
---@field cost_usd number

--- A random UUID, for a message.
---@return string
function M.uuid()
  local bytes = { vim.uv.random(16):byte(1, 16) }
  bytes[7] = bit.bor(bit.band(bytes[7], 0x0f), 0x40)
  bytes[9] = bit.bor(bit.band(bytes[9], 0x3f), 0x80)
  return (
    ("%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x"):format(unpack(bytes) --[[@as integer]])
  )
end

--- The text of content, whether a string or blocks.
---@param content? drawbridge.Content
---@return string
function M.content_text(content)
  if type(content) ~= "table" then
    return type(content) == "string" and content or ""
  end
  local texts = {}
  for _, block in ipairs(content) do
    if type(block) == "string" then
      texts[#texts + 1] = block
    elseif block.type == "text" then
      texts[#texts + 1] = block.text
    elseif block.type == "thinking" then
      texts[#texts + 1] = block.thinking
    else
      texts[#texts + 1] = ("[%s]"):format(block.type or "?")
    end
  end
  return table.concat(texts, "\n")
end

return M
