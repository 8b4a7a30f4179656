--- Buffers with changes that Claude, who reads the disk, does not see.
local M = {}

---@param path string
---@return integer?
function M.dirty(path)
  path = vim.uv.fs_realpath(path) or path
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    local name = vim.api.nvim_buf_get_name(buf)
    if
      vim.api.nvim_buf_is_loaded(buf)
      and vim.bo[buf].modified
      and vim.bo[buf].buftype == ""
      and name ~= ""
      and (vim.uv.fs_realpath(name) or name) == path
    then
      return buf
    end
  end
end

--- The buffers below a folder that are not saved.
---@param folder string
---@return integer[]
function M.below(folder)
  folder = (vim.uv.fs_realpath(folder) or folder) .. "/"
  return vim.tbl_filter(function(buf)
    local name = vim.api.nvim_buf_get_name(buf)
    return vim.api.nvim_buf_is_loaded(buf)
      and vim.bo[buf].modified
      and vim.bo[buf].buftype == ""
      and vim.startswith(vim.uv.fs_realpath(name) or name, folder)
  end, vim.api.nvim_list_bufs())
end

---@param buf integer
---@return boolean
function M.save(buf)
  local ok, err = pcall(vim.api.nvim_buf_call, buf, function()
    vim.cmd("silent write")
  end)
  if not ok then
    vim.notify("drawbridge: " .. tostring(err), vim.log.levels.ERROR)
  end
  return ok
end

---@param p drawbridge.Prompt
---@return integer?
local function edited_buffer(p)
  local diff = require("drawbridge.diff").of(p)
  return diff and M.dirty(diff.path)
end

--- What a prompt says of the file it is about.
---@param p drawbridge.Prompt
---@return string?
function M.warning(p)
  if edited_buffer(p) then
    return "You have unsaved changes in this file; Claude has not seen them."
  end
end

--- Before a tool changes a file that has unsaved changes, the user is asked.
---@param p drawbridge.Prompt
---@param go fun()
function M.before_edit(p, go)
  local buf = edited_buffer(p)
  if not buf then
    return go()
  end
  local name = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buf), ":~:.")
  vim.ui.select(
    { "Not now", "Save my changes and deny: Claude shall look again", "Allow: change the file on disk, keep my buffer as it is" },
    {
      prompt = ("%s has unsaved changes"):format(name),
      kind = "drawbridge_unsaved",
    },
    function(_, choice)
      if choice == 2 and M.save(buf) then
        require("drawbridge.prompt.permission").deny(p, "The user had unsaved changes in this file and has saved them now: read it again.")
      elseif choice == 3 then
        go()
      end
    end
  )
end

return M
