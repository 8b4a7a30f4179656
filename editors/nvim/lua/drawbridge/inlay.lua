--- A proposed edit at its place in the file, where the file is on the screen: drawn, not written, and not asked there either: in a file
--- the keys are the user's.
local compare = require("drawbridge.compare")
local text = require("drawbridge.text")

local M = {}

local ns = vim.api.nvim_create_namespace("drawbridge_inlay")
local most = 12 -- lines of a hunk

---@class drawbridge.Inlay
---@field remove fun(self: drawbridge.Inlay)

---@param path string
---@return integer?
local function visible_buffer(path)
  path = vim.uv.fs_realpath(path) or path
  for _, win in ipairs(vim.api.nvim_list_wins()) do
    local buf = vim.api.nvim_win_get_buf(win)
    local name = vim.api.nvim_buf_get_name(buf)
    if vim.bo[buf].buftype == "" and name ~= "" and (vim.uv.fs_realpath(name) or name) == path then
      return buf
    end
  end
end

---@param p drawbridge.Prompt
---@return drawbridge.Inlay?
function M.show(p)
  local diff = require("drawbridge.diff").of(p)
  if not diff or not diff.new_text or diff.partial then
    return
  end
  local buf = visible_buffer(diff.path)
  if not buf then
    return
  end
  local old = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), "\n") .. "\n"
  local new_lines = vim.split(diff.new_text, "\n", { plain = true })
  local marks, line_count = {}, vim.api.nvim_buf_line_count(buf)
  for i, hunk in ipairs(compare.hunks(old, diff.new_text)) do
    local old_start, old_count, new_start, new_count = unpack(hunk)
    local virt_lines = {}
    for n = new_start, math.min(new_start + new_count - 1, new_start + most - 1) do
      virt_lines[#virt_lines + 1] = { { "+ " .. text.visible(new_lines[n] or ""), "DrawbridgeInlay" } }
    end
    if new_count > most then
      virt_lines[#virt_lines + 1] = { { ("  … %d more lines"):format(new_count - most), "DrawbridgeHint" } }
    end
    if i == 1 then
      virt_lines[#virt_lines + 1] = { { "  ↑ proposed by Claude", "DrawbridgeHint" } }
    end
    for n = old_start, old_start + old_count - 1 do
      if n <= line_count then
        marks[#marks + 1] = vim.api.nvim_buf_set_extmark(buf, ns, n - 1, 0, { line_hl_group = "DrawbridgeRemoved" })
      end
    end
    local last = math.max(math.min(old_start + math.max(old_count, 1) - 1, line_count), 1)
    marks[#marks + 1] = vim.api.nvim_buf_set_extmark(buf, ns, last - 1, 0, { virt_lines = virt_lines, virt_lines_above = old_start == 0 })
  end
  return {
    remove = function()
      if vim.api.nvim_buf_is_valid(buf) then
        for _, mark in ipairs(marks) do
          vim.api.nvim_buf_del_extmark(buf, ns, mark)
        end
      end
    end,
  }
end

return M
