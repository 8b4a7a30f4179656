--- A conversation: what the bridge says about it, and what the user sends. What is said becomes changes of the view, a frame at a time.
local client = require("drawbridge.client")
local config = require("drawbridge.config")
local frame = require("drawbridge.frame")
local protocol = require("drawbridge.protocol")
local text = require("drawbridge.text")
local view = require("drawbridge.chat.view")

local M = {}

---@class drawbridge.Sent a message on its way
---@field id string
---@field text string
---@field request? integer
---@field begun? boolean
---@field context drawbridge.ContextItem[]

---@class drawbridge.Session
---@field id? string the bridge's handle; nil until it has opened it
---@field cwd string
---@field view drawbridge.View
---@field info drawbridge.SessionState what session_update has told
---@field status drawbridge.Status
---@field usage? table the last usage_report
---@field todos { content: string, status: string, active_form?: string }[]
---@field sent drawbridge.Sent[] without an answer yet, in order
---@field cards table<string, drawbridge.Card>
---@field attached drawbridge.Attachment[] context for the next message
---@field private frame drawbridge.Frame
---@field private since? number when the turn began
---@field private clock? uv.uv_timer_t
local Session = {}
Session.__index = Session
for _, part in ipairs({ "display", "questions" }) do
  for name, fn in pairs(require("drawbridge.session." .. part)) do
    Session[name] = fn
  end
end
local on = require("drawbridge.session.told")

---@type table<string, drawbridge.Session>
M.by_id = {}
---@type drawbridge.Session?
M.current = nil

---@param cwd string
---@return drawbridge.Session
function M.new(cwd)
  local self = setmetatable({}, Session)
  self.cwd = cwd
  self.view = view.new()
  self.view.session = self
  self.info, self.status, self.todos, self.sent, self.cards, self.attached = {}, { state = "idle" }, {}, {}, {}, {}
  self.frame = frame.new(function(run)
    self.view.transcript:write(run)
  end, function(item)
    self:handle(item)
  end)
  require("drawbridge.chat.keys").map(self)
  M.current = self
  return self
end

--- The conversation that a buffer belongs to, or the current one.
---@param buf? integer
---@return drawbridge.Session?
function M.of(buf)
  buf = buf or vim.api.nvim_get_current_buf()
  for _, s in pairs(M.by_id) do
    if s.view.text_buf == buf or s.view.prompt_buf == buf then
      return s
    end
  end
  return M.current
end

--- Opens the conversation in the bridge, which starts the CLI.
---@param resume? { session_id: string, fork?: boolean }
function Session:open(resume)
  self.opening = true
  self:set_status({ state = "starting" })
  client.ensure(function(err)
    if err then
      return self:not_opened(err)
    end
    local options = config.get()
    local trusted = require("drawbridge.prompt.trust").known(self.cwd)
    local params = vim.tbl_extend("force", options.options, {
      cwd = self.cwd,
      model = options.model,
      permission_mode = options.permission_mode,
      trusted = trusted or nil,
    })
    local method = protocol.request.session_new
    if resume then
      params.session_id, params.fork, method = resume.session_id, resume.fork, protocol.request.session_resume
    end
    client.request(method, params, function(failed, state)
      if failed then
        return self:not_opened(failed)
      end
      self.opening = false
      self.id = state.session_id
      M.by_id[self.id] = self
      self:learn(state)
      self:set_status(state.state or { state = "idle" })
      if resume then
        self:replay(resume.session_id)
      end
      for _, message in ipairs(self.sent) do
        self:deliver(message)
      end
    end)
  end)
end

---@private
function Session:not_opened(err)
  self.opening = false
  self:set_status({ state = "exited" })
  self.frame:after(function()
    self:show_error(err.message, err.remedy)
    self:return_messages()
  end)
end

--- What could not be sent goes back into the prompt area.
---@private
function Session:return_messages()
  local lost = {}
  for _, message in ipairs(self.sent) do
    if not message.begun then
      lost[#lost + 1] = message.text
    end
  end
  self.sent = {}
  if #lost > 0 then
    self.view:give_back(table.concat(lost, "\n\n"))
  end
  self:draw_tail()
end

--- Shows what a resumed conversation has said before.
---@param conversation string
function Session:replay(conversation)
  if not client.can("history") then
    return
  end
  client.request(protocol.request.session_history, { session_id = conversation, limit = 400 }, function(err, page)
    if err then
      return self.frame:after(function()
        self:show_notice("warning", err.message, err.remedy)
      end)
    end
    self.replaying = true
    for _, message in ipairs(page.messages) do
      self.frame:add(message.method, message.params)
    end
    self.frame:after(function()
      self.replaying = false
      for _, c in pairs(self.cards) do
        c:abandon()
      end
      if page.next_cursor then
        self:show_rule("older messages are not shown")
      end
      self:show_rule("resumed")
    end)
  end)
end

--- Sends a message, or queues it behind the running turn.
---@param message string
---@param context? drawbridge.ContextItem[]
function Session:send(message, context)
  local sent = { id = protocol.uuid(), text = message, context = context or {} }
  self.sent[#self.sent + 1] = sent
  self:draw_tail_soon()
  if self.id then
    self:deliver(sent)
  elseif not self.opening then
    self:open()
  end
end

---@private
---@param sent drawbridge.Sent
function Session:deliver(sent)
  local params = { session_id = self.id, content = sent.text, user_message_id = sent.id }
  if #sent.context > 0 then
    params.context = sent.context
  end
  sent.request = client.request(protocol.request.user_message, params, function(err, result)
    self.frame:after(function()
      self:answered(sent, err, result)
    end)
  end)
end

---@private
---@param sent drawbridge.Sent
---@param err? drawbridge.ClientError
---@param result? drawbridge.TurnResult
function Session:answered(sent, err, result)
  for i, other in ipairs(self.sent) do
    if other == sent then
      table.remove(self.sent, i)
    end
  end
  if err then
    if err.kind ~= "bridge_exited" or not err.expected then
      if not sent.begun then
        self.view:give_back(sent.text)
      end
      if err.kind ~= "bridge_exited" then
        self:show_error(err.message, err.remedy)
      end
    end
  elseif result and result.status == "failed" then
    local e = result.error or {}
    self:show_error(e.message or "The turn failed.", e.remedy, e.stderr_tail)
  elseif result and result.status == "cancelled" and sent.begun then
    self:show_rule("interrupted")
  elseif result and not vim.list_contains({ "end_turn", "cancelled" }, result.stop_reason) then
    self:show_rule("stopped: " .. text.visible(tostring(result.stop_reason)))
  end
  self:draw_tail()
  require("drawbridge.attention").wanted("Claude is done")
end

--- Takes a message that waits for its turn out of the queue, and gives its text back.
---@param sent? drawbridge.Sent the last one if absent
---@return string?
function Session:unqueue(sent)
  sent = sent or self:queued()[#self:queued()]
  if not sent then
    return
  end
  if sent.request then
    client.notify("$/cancelRequest", { id = sent.request })
  else
    for i, other in ipairs(self.sent) do
      if other == sent then
        table.remove(self.sent, i)
      end
    end
  end
  self:draw_tail_soon()
  return sent.text
end

---@return drawbridge.Sent[]
function Session:queued()
  return vim.tbl_filter(function(sent)
    return not sent.begun
  end, self.sent)
end

function Session:interrupt()
  if not self.id then
    return
  end
  client.request(protocol.request.interrupt, { session_id = self.id }, function(err)
    if err then
      self:report(err)
    end
  end)
end

--- Ends it in the bridge.
function Session:close()
  if self.id then
    M.by_id[self.id] = nil
    client.request(protocol.request.session_close, { session_id = self.id })
    self.id = nil
  end
  self:drop_prompts("withdrawn")
end

--- Tells of a request that failed.
---@param err drawbridge.ClientError
function Session:report(err)
  self.frame:after(function()
    self:show_notice("warning", err.message, err.remedy)
  end)
end
--- Lets go of the bridge, which is about to end: messages wait until it is opened anew.
function Session:detach()
  if self.id then
    M.by_id[self.id] = nil
  end
  self.id, self.since, self.opening = nil, nil, true
  self:let_go("the bridge was restarted")
  self:set_status({ state = "starting" })
end

--- What was under way is over without an end.
---@private
---@param note string
function Session:let_go(note)
  self.frame:after(function()
    self:drop_prompts("withdrawn", note)
    for _, c in pairs(self.running or {}) do
      c:abandon()
    end
    self.running = {}
  end)
end

--- Opens it anew in the bridge: with the folder's trust, or after the bridge was gone.
function Session:reopen()
  local conversation = self.said and self.info.claude_session_id
  if self.id then
    M.by_id[self.id] = nil
    client.request(protocol.request.session_close, { session_id = self.id })
    self.id = nil
  end
  if conversation and client.can("resume") then
    self.quiet_resume = true
    return self:open({ session_id = conversation })
  end
  self:open()
end
--- Takes in what a session_update tells.
---@param update table
function Session:learn(update)
  for name, value in pairs(update) do
    self.info[name] = value
  end
  if update.trust then
    self:ask_trust(update.trust)
  end
  vim.cmd.redrawstatus({ bang = true })
end
---@private
---@param item drawbridge.Said
function Session:handle(item)
  if item.fn then
    return item.fn()
  end
  local handler = on[item.method]
  if handler then
    handler(self, item.params, item)
  end
end

client.listener = {
  notification = function(method, params)
    local self = type(params) == "table" and M.by_id[params.session_id]
    if self then
      self.frame:add(method, params)
    end
  end,

  ask = function(method, params, respond)
    local self = M.by_id[params.session_id]
    if not self then
      return respond(nil, { code = protocol.code.internal_error, message = "this conversation is not open in the editor" })
    end
    self:ask(method, params, respond)
  end,

  ended = function(err)
    for id, self in pairs(M.by_id) do
      M.by_id[id] = nil
      self.id, self.since = nil, nil
      self:let_go("the bridge is gone")
      self.frame:after(function()
        if not err.expected then
          self:show_error(err.message, err.remedy)
        end
        self:return_messages()
      end)
      self:set_status({ state = "exited" })
    end
  end,
}

return M
