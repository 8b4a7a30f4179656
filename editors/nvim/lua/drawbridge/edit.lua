--- Changing a command, or another text of a tool's input, before it is allowed.
local config = require("drawbridge.config")
local permission = require("drawbridge.prompt.permission")
local prompt = require("drawbridge.prompt")
local proposal = require("drawbridge.proposal")

local M = {}

local syntaxes = { command = "sh" }

---@param p drawbridge.Prompt
function M.open(p)
  if p.proposal and not p.proposal.done then
    return vim.api.nvim_set_current_tabpage(p.proposal.tab)
  end
  local member = assert(permission.editable_member(p))
  local original = p.params.input[member]
  local lines = vim.split(original, "\n", { plain = true })
  local buf = proposal.buffer(("drawbridge://%s/%s"):format(p.id, member), lines, true)
  vim.bo[buf].syntax = syntaxes[member] or ""
  local keys = config.get().keys

  local function accept()
    local edited = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), "\n")
    if edited == original then
      return permission.allow(p, {})
    elseif vim.trim(edited) == "" then
      return prompt.say("nothing is left of it: deny it instead")
    end
    local input = vim.deepcopy(p.params.input)
    input[member] = edited
    permission.allow(p, { updated_input = input })
  end

  p.proposal = proposal.open(p, { buf }, {
    title = ("Edit the %s, then allow it once"):format(member),
    accept = accept,
    reject = function()
      permission.deny(p)
    end,
    reject_reason = function()
      permission.deny_with_reason(p)
    end,
    closed = function()
      prompt.say("nothing was answered: the question is still open")
    end,
    keys = { { keys.accept or "", "allow" }, { keys.reject or "", "deny" }, { ":q", "back to the question" } },
  })
end

return M
