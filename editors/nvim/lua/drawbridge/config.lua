--- Options. `setup()` is optional: without it, `vim.g.drawbridge` (a table) and the defaults below are in force.
local M = {}

---@class drawbridge.Keys
---@field send string|false normal mode, prompt area: send the message
---@field send_insert string|false insert mode, prompt area: send the message
---@field interrupt string|false normal mode, conversation and prompt area
---@field next_prompt string|false
---@field previous_prompt string|false
---@field accept string|false diff, plan and edit views: allow what is shown
---@field reject string|false diff and plan views
---@field reject_reason string|false diff and plan views: reject and say why

---@class drawbridge.Config
---@field command? string[] the bridge and its first arguments; absent: `drawbridge` is looked for
---@field serve_args string[] further arguments of `drawbridge serve`
---@field position "right"|"left"|"bottom"|"top"|"tab" where the conversation opens
---@field width number columns of the conversation; a fraction of the editor if below 1
---@field height number rows, likewise, for the positions bottom and top
---@field prompt_height integer rows of the prompt area
---@field model? string model of new sessions
---@field permission_mode? string permission mode of new sessions
---@field options table<string, any> further fields of session_new, as in docs/protocol.md
---@field auto_context boolean attach the file one comes from to every message
---@field thinking "folded"|"open"|"hidden" how the model's thinking is shown
---@field output_lines integer at most so many lines of a tool's output are put into the conversation
---@field prompt_style "inline"|"select" "select" asks through vim.ui.select
---@field settle_ms integer a prompt takes no answer until it has been on the screen for so long
---@field bell boolean ring when Claude waits for you and the editor has no focus
---@field notify? string[] a program to run then, with the text as last argument, as in { "notify-send", "Claude" }
---@field auto_reload boolean run :checktime for files that a tool has changed
---@field keys drawbridge.Keys
M.defaults = {
  command = nil,
  serve_args = {},
  position = "right",
  width = 0.45,
  height = 0.45,
  prompt_height = 5,
  model = nil,
  permission_mode = nil,
  options = {},
  auto_context = false,
  thinking = "folded",
  output_lines = 200,
  prompt_style = "inline",
  settle_ms = 300,
  bell = false,
  notify = nil,
  auto_reload = true,
  keys = {
    send = "<CR>",
    send_insert = "<C-s>",
    interrupt = "<C-c>",
    next_prompt = "]p",
    previous_prompt = "[p",
    accept = "ga",
    reject = "gd",
    reject_reason = "gD",
  },
}

--- Kinds of value an option takes; a list of strings is an enumeration.
local shapes = {
  command = "table",
  serve_args = "table",
  position = { "right", "left", "bottom", "top", "tab" },
  width = "number",
  height = "number",
  prompt_height = "number",
  model = "string",
  permission_mode = "string",
  options = "table",
  auto_context = "boolean",
  thinking = { "folded", "open", "hidden" },
  output_lines = "number",
  prompt_style = { "inline", "select" },
  settle_ms = "number",
  bell = "boolean",
  notify = "table",
  auto_reload = "boolean",
  keys = "table",
}

---@type drawbridge.Config?
local current

--- What is wrong with the options of the user, a sentence each.
---@param given table
---@return string[]
function M.problems(given)
  local found = {}
  for name, value in pairs(given) do
    local shape = shapes[name]
    if not shape then
      found[#found + 1] = ("there is no option %q"):format(name)
    elseif type(shape) == "table" then
      if not vim.list_contains(shape, value) then
        found[#found + 1] = ("%s is one of %s, not %s"):format(name, table.concat(shape, ", "), vim.inspect(value))
      end
    elseif type(value) ~= shape then
      found[#found + 1] = ("%s is a %s, not %s"):format(name, shape, vim.inspect(value))
    end
  end
  if type(given.keys) == "table" then
    for name in pairs(given.keys) do
      if M.defaults.keys[name] == nil then
        found[#found + 1] = ("there is no key %q"):format(name)
      end
    end
  end
  if type(given.command) == "table" and type(given.command[1]) ~= "string" then
    found[#found + 1] = "command is a list of strings, the program first"
  end
  if type(given.settle_ms) == "number" and given.settle_ms < 100 then
    found[#found + 1] = "settle_ms is at least 100"
  end
  table.sort(found)
  return found
end

--- Takes the options of the user. One that is wrong is named and left at its default.
---@param given? table
function M.set(given)
  given = vim.tbl_extend("force", {}, type(vim.g.drawbridge) == "table" and vim.g.drawbridge or {}, given or {})
  local problems = M.problems(given)
  if #problems > 0 then
    vim.notify("drawbridge: " .. table.concat(problems, "; "), vim.log.levels.WARN)
  end
  local accepted = {}
  for name, value in pairs(given) do
    if #M.problems({ [name] = value }) == 0 then
      accepted[name] = value
    end
  end
  current = vim.tbl_deep_extend("force", vim.deepcopy(M.defaults), accepted)
end

---@return drawbridge.Config
function M.get()
  if not current then
    M.set()
  end
  return current --[[@as drawbridge.Config]]
end

--- The options as the user gave them are forgotten; for tests.
function M.reset()
  current = nil
end

return M
