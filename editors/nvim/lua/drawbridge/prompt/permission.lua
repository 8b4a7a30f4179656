--- The form of permission_request: may a tool run?
local prompt = require("drawbridge.prompt")
local text = require("drawbridge.text")

local M = {}

local ns_per_ms = 1e6

---@param p drawbridge.Prompt
---@param answer table
local function allow(p, answer)
  answer.prompt_id, answer.decision = p.id, "allow"
  prompt.answer(p, answer)
end
M.allow = allow

---@param p drawbridge.Prompt
---@param message? string what the model is told
---@param interrupt? boolean
local function deny(p, message, interrupt)
  prompt.answer(p, { prompt_id = p.id, decision = "deny", message = message, interrupt = interrupt })
end
M.deny = deny

---@param p drawbridge.Prompt
local function deny_with_reason(p, question)
  vim.ui.input({ prompt = question or "Tell Claude why not: " }, function(reason)
    if reason == nil then
      return prompt.say("nothing was answered")
    end
    deny(p, reason ~= "" and reason or nil)
  end)
end
M.deny_with_reason = deny_with_reason

local function offers(p, scope)
  return vim.list_contains(p.params.scopes or {}, scope)
end

local scope_words = { session = "for this session", project = "always in this project", user = "always, everywhere" }

---@param p drawbridge.Prompt
local function rules_text(p)
  local rules = p.params.rules or {}
  return #rules > 0 and text.visible(table.concat(rules, "  ")) or "this tool"
end

--- An allow that outlives the question. Where the risk is high, the rule is shown and a second key is wanted.
---@param p drawbridge.Prompt
local function allow_for(p, key, scope)
  if not offers(p, scope) then
    return prompt.say("not offered here: this can be allowed only once")
  end
  if p.params.risk_level == "high" then
    local confirm = p.confirm
    if not confirm then
      p.confirm = { key = key, scope = scope, at = vim.uv.hrtime() }
      return prompt.draw(p)
    end
    if (vim.uv.hrtime() - confirm.at) / ns_per_ms < require("drawbridge.config").get().settle_ms then
      return prompt.say("too early: read the rule, then press the key again")
    end
  end
  allow(p, { scope = scope })
end

--- The single member of the input that may be edited as text, if there is just one.
---@param p drawbridge.Prompt
---@return string?
function M.editable_member(p)
  local editable = p.params.editable or {}
  if vim.list_contains(editable, "command") then
    return "command"
  end
  local name = #editable == 1 and editable[1] or editable[1]
  if name and type(p.params.input[name]) == "string" then
    return name
  end
end

local function edit(p)
  if p.params.kind == "edit" and require("drawbridge.diff").possible(p) then
    return require("drawbridge.diff").open(p)
  end
  if not M.editable_member(p) then
    return prompt.say("nothing of this can be edited")
  end
  require("drawbridge.edit").open(p)
end

local function view(p)
  if require("drawbridge.diff").possible(p) then
    return require("drawbridge.diff").open(p)
  end
  prompt.say("there is no diff to view")
end

---@param p drawbridge.Prompt
local function why(p)
  p.explained = not p.explained
  prompt.draw(p)
end

local flags = {
  invisible_characters = "it holds characters that cannot be seen: they are shown as ‹U+…›",
  confusable = "it holds letters that look like others",
  long = "it is long: read it to its end",
  unparsed = "it could not be understood as a whole",
  outside_workspace = "it reaches outside the workspace",
  protected_path = "it touches a protected path",
  remote = "it reaches the network",
}

---@type drawbridge.Form
M.form = {
  title = function(p)
    local risk = p.params.risk_level
    local line = { { p.params.again and "Asked again: allow this?" or "Allow this?", "DrawbridgeWaiting" } }
    if risk then
      local group = "DrawbridgeRisk" .. risk:sub(1, 1):upper() .. risk:sub(2)
      line[#line + 1] = { "  " .. risk .. " risk", group }
    end
    return line
  end,

  body = function(p, width)
    local q, rows = p.params, {}
    local function add(s, group)
      vim.list_extend(rows, prompt.rows(s, width, group))
    end
    if q.again == "too_early" then
      add("The answer came too soon after the question to be meant.", "DrawbridgeWarning")
    elseif q.again == "changed" then
      add("The file has changed since it was shown: look again.", "DrawbridgeWarning")
    elseif q.again == "denied_by_rule" then
      add("What you made of it is forbidden by a rule.", "DrawbridgeWarning")
    end
    for _, flag in ipairs(q.flags or {}) do
      add("! " .. (flags[flag] or flag:gsub("_", " ")), "DrawbridgeRiskHigh")
    end
    if q.kind == "execute" and q.description and q.description ~= "" then
      add("Claude says: " .. q.description, "DrawbridgeHint")
    end
    if p.unsaved then
      add(p.unsaved, "DrawbridgeWarning")
    end
    if p.explained then
      add("Why: " .. (q.reason.text or q.reason.source), "DrawbridgePrompt")
      if q.reason.rule then
        add("Rule: " .. q.reason.rule .. (q.reason.file and (" in " .. q.reason.file) or ""), "DrawbridgePrompt")
      end
      for _, part in ipairs(q.parts or {}) do
        add(("%s  %s"):format(part.verdict, part.display), "DrawbridgePrompt")
      end
      if q.blocked_path then
        add("Path: " .. q.blocked_path, "DrawbridgePrompt")
      end
      for scope, file in vim.spairs(q.saved_to or {}) do
        add(("%s rules are saved to %s"):format(scope, file), "DrawbridgeHint")
      end
    end
    if q.rules and #q.rules > 0 and not p.confirm then
      add("s and A allow: " .. rules_text(p), "DrawbridgeHint")
    end
    if p.confirm then
      add(("To allow %s: %s"):format(scope_words[p.confirm.scope], rules_text(p)), "DrawbridgeRiskHigh")
      add(("press %s once more, or any other key not to"):format(p.confirm.key), "DrawbridgeRiskHigh")
    end
    return rows
  end,

  keys = function(p)
    local keys = { { "a", "allow once" } }
    if offers(p, "session") then
      keys[#keys + 1] = { "s", "session" }
    end
    if offers(p, "project") then
      keys[#keys + 1] = { "A", "always here" }
    end
    vim.list_extend(keys, { { "d", "deny" }, { "D", "deny, say why" } })
    if require("drawbridge.diff").possible(p) then
      keys[#keys + 1] = { "v", "diff" }
      keys[#keys + 1] = { "e", "edit" }
    elseif M.editable_member(p) then
      keys[#keys + 1] = { "e", "edit" }
    end
    vim.list_extend(keys, { { "m", "more" }, { "?", "why" } })
    return keys
  end,

  press = {
    a = function(p)
      require("drawbridge.unsaved").before_edit(p, function()
        allow(p, {})
      end)
    end,
    s = function(p, key)
      allow_for(p, key, "session")
    end,
    A = function(p, key)
      allow_for(p, key, "project")
    end,
    d = function(p)
      deny(p)
    end,
    D = function(p)
      deny_with_reason(p)
    end,
    e = edit,
    v = view,
    m = function(p)
      prompt.select(p)
    end,
    ["?"] = why,
  },

  choices = function(p)
    local q = p.params
    local list = {
      {
        label = "Deny",
        act = function()
          deny(p)
        end,
      },
      {
        label = "Deny and say why",
        act = function()
          deny_with_reason(p)
        end,
      },
      {
        label = "Deny and stop the turn",
        act = function()
          deny(p, nil, true)
        end,
      },
      {
        label = "Allow once",
        act = function()
          M.form.press.a(p, "a")
        end,
      },
    }
    for _, mode in ipairs(q.modes or {}) do
      list[#list + 1] = {
        label = "Allow once, and from now on mode " .. mode,
        act = function()
          allow(p, { permission_mode = mode })
        end,
      }
    end
    for _, scope in ipairs({ "session", "project", "user" }) do
      if offers(p, scope) then
        list[#list + 1] = {
          label = ("Allow %s: %s"):format(scope_words[scope], rules_text(p)),
          act = function()
            allow(p, { scope = scope })
          end,
        }
        list[#list + 1] = {
          label = ("Allow %s by another rule …"):format(scope_words[scope]),
          act = function()
            vim.ui.input({ prompt = "Rule: ", default = (q.rules or {})[1] or "" }, function(rule)
              if rule and vim.trim(rule) ~= "" then
                allow(p, { scope = scope, rules = { vim.trim(rule) } })
              end
            end)
          end,
        }
      end
    end
    return list
  end,
}

return M
