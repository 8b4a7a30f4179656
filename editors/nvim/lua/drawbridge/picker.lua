--- Conversations of the past.
local client = require("drawbridge.client")
local protocol = require("drawbridge.protocol")
local text = require("drawbridge.text")

local M = {}

---@param row drawbridge.SessionRow
function M.label(row)
  local when = (row.updated_at or ""):gsub("T", " "):sub(1, 16)
  local title = row.title ~= "" and row.title or "(without a title)"
  local turns = row.turns == 1 and "1 turn" or ("%d turns"):format(row.turns or 0)
  return ("%s  %s  %s%s"):format(when, text.visible(title), turns, row.open_as and "  (open)" or "")
end

--- Lets the user choose one.
---@param question string
---@param choose fun(row: drawbridge.SessionRow)
function M.pick(question, choose)
  client.ensure(function(err)
    if err then
      return vim.notify("drawbridge: " .. err.message .. " " .. (err.remedy or ""), vim.log.levels.ERROR)
    end
    if not client.can("list") then
      return vim.notify("drawbridge: this bridge cannot list conversations; a newer one can", vim.log.levels.WARN)
    end
    client.request(protocol.request.session_list, { cwd = vim.fn.getcwd(), limit = 100 }, function(failed, page)
      if failed then
        return vim.notify("drawbridge: " .. failed.message, vim.log.levels.ERROR)
      end
      if #page.sessions == 0 then
        return vim.notify("drawbridge: there are no conversations in this folder yet")
      end
      vim.ui.select(page.sessions, { prompt = question, kind = "drawbridge_session", format_item = M.label }, function(row)
        if row then
          choose(row)
        end
      end)
    end)
  end)
end

return M
