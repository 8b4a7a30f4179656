--- Two versions of a text.
local M = {}

-- vim.diff has moved in 0.12.
local compare = vim.text and vim.text.diff or vim.diff

local function ended(s)
  return (s == "" or s:sub(-1) == "\n") and s or s .. "\n"
end

--- The hunks of a unified diff, without file names.
---@param old string
---@param new string
---@return string
function M.unified(old, new)
  local hunks = compare(ended(old), ended(new), { result_type = "unified", ctxlen = 3 }) --[[@as string]]
  if ended(old) == ended(new) and old ~= new then
    return "@@ only the line break at the end of the file changes @@\n"
  end
  return hunks
end

--- The hunks as { old start, old count, new start, new count }.
---@param old string
---@param new string
---@return integer[][]
function M.hunks(old, new)
  return compare(ended(old), ended(new), { result_type = "indices" }) --[[@as integer[][] ]]
end

return M
