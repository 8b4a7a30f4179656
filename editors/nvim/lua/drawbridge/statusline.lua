--- What a status line can show.
local text = require("drawbridge.text")

local M = {}

local short = {
  starting = "starting",
  idle = "ready",
  running = "working",
  waiting_permission = "waits for you",
  waiting_answer = "waits for you",
  retrying = "retrying",
  interrupting = "interrupting",
  compacting = "compacting",
  exited = "stopped",
}

local function escape(s)
  return (text.visible(s):gsub("%%", "%%%%"))
end

---@return drawbridge.Session?
local function session_of_window()
  local sessions = package.loaded["drawbridge.session"]
  if not sessions then
    return
  end
  local win = tonumber(vim.g.statusline_winid)
  return sessions.of(win and vim.api.nvim_win_is_valid(win) and vim.api.nvim_win_get_buf(win) or nil)
end

--- A component for any status line: "", "Claude: working", "Claude: 2 questions". Loads nothing.
---@return string
function M.component()
  local sessions = package.loaded["drawbridge.session"]
  local session = sessions and sessions.current
  if not session then
    return ""
  end
  local asked = #require("drawbridge.prompt").open
  if asked > 0 then
    return ("Claude: %d question%s"):format(asked, asked == 1 and "" or "s")
  end
  return "Claude: " .. (short[session.status.state] or session.status.state)
end

--- The winbar of a conversation.
---@return string
function M.winbar()
  local session = session_of_window()
  if not session then
    return " Claude"
  end
  local info, usage = session.info, session.usage
  local left = { " %#DrawbridgeUser#Claude%*" }
  if info.model then
    left[#left + 1] = escape((info.model:gsub("^claude%-", "")))
  end
  if info.permission_mode and info.permission_mode ~= "default" then
    left[#left + 1] = "%#DrawbridgeWarning#" .. escape(info.permission_mode) .. "%*"
  end
  local asked = 0
  for _, p in ipairs(require("drawbridge.prompt").open) do
    asked = asked + (p.session == session and 1 or 0)
  end
  if asked > 0 then
    left[#left + 1] = ("%%#DrawbridgeWaiting#%d question%s: ]p%%*"):format(asked, asked == 1 and "" or "s")
  else
    left[#left + 1] = short[session.status.state] or escape(session.status.state)
  end
  local right = {}
  local window = usage and usage.context_window
  if window and window.size > 0 then
    right[#right + 1] = ("ctx %s/%s"):format(text.count(window.used), text.count(window.size))
  end
  if usage and usage.total_cost_usd then
    right[#right + 1] = ("$%.2f"):format(usage.total_cost_usd)
  end
  return table.concat(left, " · ") .. "  %<%=" .. table.concat(right, " · ") .. " "
end

--- The winbar of the prompt area: what goes with the next message.
---@return string
function M.prompt_bar()
  local session = session_of_window()
  local keys = require("drawbridge.config").get().keys
  local parts = {}
  for _, item in ipairs(session and session.attached or {}) do
    parts[#parts + 1] = "+ " .. escape(require("drawbridge.context").label(item))
  end
  if #parts > 0 then
    return " %#DrawbridgeOk#" .. table.concat(parts, "  ") .. "%*"
  end
  return " %#DrawbridgeHint#" .. ("%s sends · @ file · / command"):format(escape(keys.send or keys.send_insert or "")) .. "%*"
end

return M
