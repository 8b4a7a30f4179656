--- Colours for the markdown of an answer: each line once, when it is complete, and a block of code when its fence closes. Neither a parser nor
--- syntax rules over the whole buffer: both read a long paragraph anew with every piece that is added to it, which one feels in the keys.
local M = {}

--- Larger blocks of code stay as they are.
M.most_code_lines = 2000

---@class drawbridge.Painter
---@field private buf integer
---@field private ns integer
---@field private fence? { mark: integer, sign: string, lang: string }
local Painter = {}
Painter.__index = Painter

---@param buf integer
---@param ns integer
---@return drawbridge.Painter
function M.new(buf, ns)
  return setmetatable({ buf = buf, ns = ns }, Painter)
end

---@private
function Painter:paint(row, from, to, group)
  vim.api.nvim_buf_set_extmark(self.buf, self.ns, row, from, { end_col = to, hl_group = group, priority = 110 })
end

--- Colours a block of code by the parser of its language, if there is one.
---@private
---@param first integer
---@param last integer row behind it
function Painter:code(first, last, name)
  if last <= first or last - first > M.most_code_lines then
    return
  end
  local lang = vim.treesitter.language.get_lang(name) or name
  local code = table.concat(vim.api.nvim_buf_get_lines(self.buf, first, last, true), "\n")
  local ok, parser = pcall(vim.treesitter.get_string_parser, code, lang)
  local query = ok and parser and vim.treesitter.query.get(lang, "highlights")
  if not query then
    return
  end
  for _, tree in ipairs(parser:parse()) do
    for id, node in query:iter_captures(tree:root(), code) do
      local capture = query.captures[id]
      if capture:sub(1, 1) ~= "_" and capture ~= "spell" and capture ~= "nospell" then
        local row, col, end_row, end_col = node:range()
        vim.api.nvim_buf_set_extmark(self.buf, self.ns, first + row, col, {
          end_row = first + end_row,
          end_col = end_col,
          hl_group = "@" .. capture .. "." .. lang,
          priority = 111,
          strict = false,
        })
      end
    end
  end
end

---@private
function Painter:inline(row, line)
  if line:find("`", 1, true) then
    for from, to in line:gmatch("()`[^`]+`()") do
      self:paint(row, from - 1, to - 1, "DrawbridgeCode")
    end
  end
  if line:find("**", 1, true) then
    for from, to in line:gmatch("()%*%*[^%s*][^*]*%*%*()") do
      self:paint(row, from - 1, to - 1, "DrawbridgeBold")
    end
  end
end

--- Colours complete lines.
---@param first integer
---@param last integer row behind them
function Painter:lines(first, last)
  for i, line in ipairs(vim.api.nvim_buf_get_lines(self.buf, first, last, true)) do
    local row = first + i - 1
    local fence = self.fence
    local sign, info = line:match("^%s*(```+)%s*([%w_+#.-]*)")
    if not sign then
      sign, info = line:match("^%s*(~~~+)%s*([%w_+#.-]*)")
    end
    if fence then
      if sign and info == "" and vim.startswith(sign, fence.sign) then
        self.fence = nil
        self:paint(row, 0, #line, "DrawbridgeFence")
        local opened = vim.api.nvim_buf_get_extmark_by_id(self.buf, self.ns, fence.mark, {})[1]
        pcall(self.code, self, opened + 1, row, fence.lang)
      end
    elseif sign then
      local mark = vim.api.nvim_buf_set_extmark(self.buf, self.ns, row, 0, {})
      self.fence = { mark = mark, sign = sign, lang = info:lower() }
      self:paint(row, 0, #line, "DrawbridgeFence")
    elseif line:find("^#+ ") then
      self:paint(row, 0, #line, "DrawbridgeHeading")
    elseif line ~= "" then
      local from, to = line:match("^%s*()[-*+]() ")
      if not from then
        from, to = line:match("^%s*()%d+[.)]() ")
      end
      if from then
        self:paint(row, from - 1, to - 1, "DrawbridgeBullet")
      end
      self:inline(row, line)
    end
  end
end

return M
