--- Completion in the prompt area: @ for files and buffers, / for Claude's commands.
local M = {}

---@param base string
---@return table[]
local function files(base)
  local seen, list = {}, {}
  local function add(name, menu)
    if not seen[name] and vim.startswith(name:lower(), base:lower()) then
      seen[name] = true
      list[#list + 1] = { word = "@" .. name, menu = menu }
    end
  end
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    local path = vim.api.nvim_buf_get_name(buf)
    if vim.bo[buf].buflisted and vim.bo[buf].buftype == "" and path ~= "" then
      add(vim.fn.fnamemodify(path, ":."), "buffer")
    end
  end
  for _, name in ipairs(vim.fn.getcompletion(base, "file")) do
    add(name, "file")
  end
  return list
end

---@param base string
---@return table[]
local function commands(base)
  local session = require("drawbridge.session").of()
  local list = {}
  for _, command in ipairs(session and session.info.commands or {}) do
    if vim.startswith(command.name, base) then
      list[#list + 1] = {
        word = "/" .. command.name,
        menu = command.argument_hint,
        info = command.description,
      }
    end
  end
  return list
end

---@param findstart 0|1
---@param base string
function M.omnifunc(findstart, base)
  if findstart == 1 then
    local before = vim.api.nvim_get_current_line():sub(1, vim.api.nvim_win_get_cursor(0)[2])
    local at = before:find("@%S*$") or before:find("^/%S*$")
    return at and at - 1 or -3
  end
  if base:sub(1, 1) == "/" then
    return commands(base:sub(2))
  end
  return files(base:sub(2))
end

return M
