--- What the bridge tells of a conversation, method by method. Called inside a frame: the text may be changed.
local card = require("drawbridge.chat.card")
local config = require("drawbridge.config")
local protocol = require("drawbridge.protocol")
local text = require("drawbridge.text")

--- What is done for each kind of notification. Called inside a frame.
---@type table<string, fun(self: drawbridge.Session, params: table, item: drawbridge.Said)>
local on = {}

function on.turn_start(self, p)
  self.since = vim.uv.now()
  self.said = true
  for _, sent in ipairs(self.sent) do
    if sent.id == p.user_message_id and not sent.begun then
      sent.begun = true
      self:show_user(sent.text)
      for _, item in ipairs(sent.context) do
        local row = self.view.transcript:append({ "  + " .. require("drawbridge.context").label(item) })
        self.view.transcript:paint(row, row, "DrawbridgeHint")
      end
    end
  end
  if p.origin == "background" then
    self:show_rule("a background task goes on")
  end
  self:draw_tail()
end

--- History only: what the user has said.
function on.user_message(self, p)
  self:show_user(protocol.content_text(p.content))
end

function on.assistant_token(self, p, item)
  self.view.transcript:stream("text", p.message_id, p.block, table.concat(item.parts))
end

function on.thinking_token(self, p, item)
  if config.get().thinking ~= "hidden" then
    self.view.transcript:stream("thinking", p.message_id, p.block, table.concat(item.parts))
  end
end

function on.assistant_message(self, p)
  local parent = p.parent_tool_use_id and self.cards[p.parent_tool_use_id]
  for i, block in ipairs(p.content) do
    local kind = block.type == "thinking" and "thinking" or "text"
    local said = block.thinking or protocol.content_text({ block })
    if parent then
      local lines = text.head(said, 20, 4000)
      for n, line in ipairs(lines) do
        lines[n] = "  │ " .. line
      end
      local at = parent:add(lines, "DrawbridgeOutput", true)
      self.view.transcript:fold(at, at + #lines - 1)
    elseif kind == "text" or config.get().thinking ~= "hidden" then
      self.view.transcript:stream(kind, p.message_id, -i, said)
      self.view.transcript:close()
    end
  end
end

function on.message_discarded(self, p)
  if self.view.transcript:discard(p.message_id, p.from_block) then
    self:show_rule("an answer was cut off and is being redone")
  end
end

--- The list of steps is shown as such.
local own_display = { TodoWrite = true, TaskCreate = true, TaskUpdate = true }

function on.tool_use_start(self, p)
  if own_display[p.name] or self.cards[p.tool_use_id] then
    return
  end
  local c = card.new(self.view.transcript, p, self.cards[p.parent_tool_use_id])
  self.cards[p.tool_use_id] = c
  self.running = self.running or {}
  self.running[p.tool_use_id] = c
end

function on.tool_progress(self, p)
  local c = self.cards[p.tool_use_id]
  if c then
    c:progress(p.elapsed_ms)
    c:draw()
  end
end

function on.tool_result(self, p)
  local c = self.cards[p.tool_use_id]
  if not c then
    return
  end
  c:finish(p)
  if p.outcome ~= "background" and self.running then
    self.running[p.tool_use_id] = nil
  end
  if not self.replaying and config.get().auto_reload then
    require("drawbridge.reload").after(c)
  end
end

function on.prompt_resolved(self, p)
  self:resolved(p)
end

function on.task_update(self, p)
  local c = p.tool_use_id and self.cards[p.tool_use_id]
  if not c or not c.result then
    return
  end
  local states = { running = "background", completed = "ok", failed = "error", stopped = "stopped" }
  c:set(states[p.status] or "background")
end

function on.todo_update(self, p)
  self.todos = p.items
  self:draw_tail()
end

function on.turn_complete(self, p)
  self.view.transcript:gap()
  self.since = nil
  for id, c in pairs(self.running or {}) do
    c:abandon()
    if c.result and c.state ~= "background" then
      self.running[id] = nil
    end
  end
  local open = vim.tbl_filter(function(item)
    return item.status ~= "completed"
  end, self.todos)
  if #open == 0 then
    self.todos = {}
  end
  if p.origin == "background" and p.status == "failed" then
    self:show_rule("the background turn failed")
  end
  self:draw_tail()
end

function on.usage_report(self, p)
  self.usage = p
  vim.cmd.redrawstatus({ bang = true })
end

function on.status_change(self, p)
  self:set_status(p)
  if p.state == "exited" and (p.message or (p.exit_code or 0) ~= 0) then
    self:show_error(p.message or ("Claude has ended with status %d."):format(p.exit_code), p.remedy)
  end
end

function on.session_update(self, p)
  local level = p.claude_code and p.claude_code.level
  self:learn(p)
  if level == "degraded" and not self.warned then
    self.warned = true
    self:show_notice("warning", p.claude_code.message, p.claude_code.remedy)
  end
end

function on.conversation_boundary(self, p)
  self:show_rule(p.kind == "cleared" and "a new conversation" or "the conversation so far was compacted")
  if p.kind == "cleared" then
    self.todos = {}
  end
end

function on.notice(self, p)
  self:show_notice(p.level, p.message, p.remedy)
end

return on
