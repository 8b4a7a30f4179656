--- A plan in a tab page of its own, as markdown.
local config = require("drawbridge.config")
local permission = require("drawbridge.prompt.permission")
local prompt = require("drawbridge.prompt")
local proposal = require("drawbridge.proposal")

local M = {}

---@param p drawbridge.Prompt
function M.open(p)
  if p.proposal and not p.proposal.done then
    return vim.api.nvim_set_current_tabpage(p.proposal.tab)
  end
  local buf = proposal.buffer(("drawbridge://%s/plan.md"):format(p.id), vim.split(p.params.plan, "\n", { plain = true }), false)
  if not pcall(vim.treesitter.start, buf, "markdown") then
    vim.bo[buf].syntax = "markdown"
  end
  local keys = config.get().keys
  p.proposal = proposal.open(p, { buf }, {
    title = "The plan",
    accept = function()
      permission.allow(p, {})
    end,
    reject = function()
      permission.deny(p)
    end,
    reject_reason = function()
      permission.deny_with_reason(p, "What should be different: ")
    end,
    closed = function()
      prompt.say("nothing was answered: the question is still open")
    end,
    keys = {
      { keys.accept or "", "approve" },
      { keys.reject or "", "go on planning" },
      { keys.reject_reason or "", "… with comments" },
      { ":q", "back to the question" },
    },
  })
end

return M
