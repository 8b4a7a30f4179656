--- The form of a plan: it is carried out, or Claude goes on planning.
local permission = require("drawbridge.prompt.permission")
local prompt = require("drawbridge.prompt")

local M = {}

---@param p drawbridge.Prompt
local function open(p)
  require("drawbridge.plan").open(p)
end

---@type drawbridge.Form
M.form = {
  title = function()
    return { { "Carry out this plan?", "DrawbridgeWaiting" } }
  end,
  body = function()
    return {}
  end,
  keys = function(p)
    local keys = { { "a", "approve, ask before each edit" } }
    if vim.list_contains(p.params.modes or {}, "acceptEdits") then
      keys[#keys + 1] = { "m", "approve, accept edits" }
    end
    vim.list_extend(keys, { { "d", "go on planning" }, { "D", "… with comments" }, { "o", "open the plan" } })
    return keys
  end,
  press = {
    a = function(p)
      permission.allow(p, {})
    end,
    m = function(p)
      if not vim.list_contains(p.params.modes or {}, "acceptEdits") then
        return prompt.say("not offered here")
      end
      permission.allow(p, { permission_mode = "acceptEdits" })
    end,
    d = function(p)
      permission.deny(p)
    end,
    D = function(p)
      permission.deny_with_reason(p, "What should be different: ")
    end,
    o = open,
    v = open,
  },
  choices = function(p)
    local list = {
      {
        label = "Go on planning",
        act = function()
          permission.deny(p)
        end,
      },
      {
        label = "Go on planning, with comments",
        act = function()
          permission.deny_with_reason(p, "What should be different: ")
        end,
      },
      {
        label = "Approve, ask before each edit",
        act = function()
          permission.allow(p, {})
        end,
      },
    }
    if vim.list_contains(p.params.modes or {}, "acceptEdits") then
      list[#list + 1] = {
        label = "Approve and accept edits",
        act = function()
          permission.allow(p, { permission_mode = "acceptEdits" })
        end,
      }
    end
    return list
  end,
}

return M
