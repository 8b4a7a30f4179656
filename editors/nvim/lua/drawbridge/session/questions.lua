--- What the bridge asks in a conversation, and how a question ends.
local card = require("drawbridge.chat.card")
local prompt = require("drawbridge.prompt")
local protocol = require("drawbridge.protocol")
local text = require("drawbridge.text")
local transcript = require("drawbridge.chat.transcript")

---@class drawbridge.Session
local Session = {}

--- The card a prompt is about; one of its own if the bridge has told of none.
---@private
function Session:card_of(params, title)
  local c = self.cards[params.tool_use_id]
  if not c then
    c = card.new(self.view.transcript, {
      message_id = "",
      block = 0,
      tool_use_id = params.tool_use_id or params.prompt_id,
      name = params.tool or "AskUserQuestion",
      input = params.input or {},
      title = title,
      kind = params.kind or "other",
      locations = {},
    }, self.cards[params.parent_tool_use_id])
    self.cards[c.id] = c
    self.running = self.running or {}
    self.running[c.id] = c
  end
  return c
end

--- Shows a question of the bridge.
---@param method string
---@param params table
---@param respond fun(result?: table, err?: table)
function Session:ask(method, params, respond)
  self.frame:after(function()
    local p = { id = params.prompt_id, params = params, session = self, respond = respond }
    local again = prompt.find(params.prompt_id)
    if again then
      prompt.remove(again, "waiting")
    end
    if method == protocol.question.ask_user_question then
      p.form = require("drawbridge.prompt.question").form
      p.card = self:card_of(params, params.questions[1].question)
    else
      local forms = require("drawbridge.prompt.permission")
      p.card = self:card_of(params, params.title)
      if params.plan then
        p.form = require("drawbridge.prompt.plan").form
        if not p.card.shows_plan then
          p.card.shows_plan = true
          local lines = text.lines(text.visible(params.plan))
          local at = p.card:add(lines)
          require("drawbridge.chat.markdown").new(self.view.text_buf, transcript.ns):lines(at, at + #lines)
        end
      else
        p.form = forms.form
        p.card:show_whole(params.display)
        local diff = require("drawbridge.diff").of(p)
        if diff and not p.card.has_diff then
          p.card:show_diff(diff, 30)
        end
        p.unsaved = require("drawbridge.unsaved").warning(p)
      end
    end
    prompt.add(p --[[@as drawbridge.Prompt]])
    if p.form == require("drawbridge.prompt.permission").form then
      p.inlay = require("drawbridge.inlay").show(p)
    end
  end)
end
local by_words = {
  user = "you",
  rule = "a rule",
  grant = "what you allowed before",
  timeout = "nobody answered",
  interrupt = "interrupted",
  claude = "Claude has taken it back",
  session_closed = "the session was closed",
  error = "an error",
}

---@private
---@param r drawbridge.PromptResolved
function Session.resolved(_, r)
  local p = prompt.find(r.prompt_id)
  if not p then
    return
  end
  local by = by_words[r.by] or r.by
  local state, note = "running", nil
  if r.outcome == "denied" or r.outcome == "declined" or r.outcome == "withdrawn" then
    state = r.outcome
    note = r.by ~= "user" and by or nil
  elseif r.by ~= "user" then
    note = ("allowed by %s%s"):format(by, r.rule and ": " .. text.visible(r.rule) or "")
  end
  p.card.let_through = vim.uv.hrtime() / 1e6
  prompt.remove(p, state, note)
  prompt.take_back(p)
end

--- All open prompts go: nobody can answer them any more.
---@param state string
---@param note? string
function Session:drop_prompts(state, note)
  for _, p in ipairs(vim.list_slice(prompt.open)) do
    if p.session == self then
      prompt.remove(p, state, note)
      prompt.take_back(p)
    end
  end
end

--- Asks once per folder whether its own settings may run, if it has any. A yes opens the session anew, before anything was said.
---@private
function Session:ask_trust(trust)
  local known = require("drawbridge.prompt.trust")
  if trust.trusted or not trust.off or #trust.off == 0 or self.asked_trust or known.known(self.cwd) ~= nil then
    return
  end
  self.asked_trust = true
  self.frame:after(function()
    local c = self:card_of({ prompt_id = "trust", kind = "other" }, "Trust this folder")
    prompt.add({
      id = "trust:" .. self.cwd,
      params = { title = "Trust this folder", cwd = self.cwd, off = trust.off },
      session = self,
      card = c,
      form = known.form,
      respond = function(answer)
        local p = prompt.find("trust:" .. self.cwd)
        if not answer then
          return
        end
        known.keep(self.cwd, answer.trusted)
        if p then
          prompt.remove(p, answer.trusted and "ok" or "left off")
        end
        if answer.trusted then
          self:reopen()
        end
      end,
    } --[[@as drawbridge.Prompt]])
  end)
end

return Session
