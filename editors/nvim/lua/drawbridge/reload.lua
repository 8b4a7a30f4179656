--- Files that a tool has changed, read again: never over changes the user has not saved.
local M = {}

local function buffers()
  return vim.tbl_filter(function(buf)
    return vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == "" and vim.api.nvim_buf_get_name(buf) ~= ""
  end, vim.api.nvim_list_bufs())
end

--- Called when a tool has ended.
---@param c drawbridge.Card
function M.after(c)
  local kind = c.use.kind
  if kind ~= "edit" and kind ~= "execute" then
    return
  end
  local about = {}
  for _, place in ipairs(c.use.locations or {}) do
    about[vim.uv.fs_realpath(place.path) or place.path] = true
  end
  for _, buf in ipairs(buffers()) do
    local name = vim.api.nvim_buf_get_name(buf)
    local path = vim.uv.fs_realpath(name) or name
    if kind == "execute" or about[path] then
      if vim.bo[buf].modified then
        if about[path] and c.state == "ok" then
          vim.notify(
            ("drawbridge: %s has changed on disk; your unsaved buffer is kept"):format(vim.fn.fnamemodify(name, ":t")),
            vim.log.levels.WARN
          )
        end
      else
        -- 'autoread' for this one look: the user has let the tool change the file.
        local before = vim.bo[buf].autoread
        vim.bo[buf].autoread = true
        vim.cmd(("silent! checktime %d"):format(buf))
        vim.bo[buf].autoread = before
      end
    end
  end
end

return M
