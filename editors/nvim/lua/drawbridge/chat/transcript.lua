--- The text of a conversation: a buffer that only grows. Its last line, the tail, is always empty: what is said goes before it, and a
--- cursor that rests on it follows. Nothing is ever drawn twice.
local config = require("drawbridge.config")
local markdown = require("drawbridge.chat.markdown")

local M = {}

M.ns = vim.api.nvim_create_namespace("drawbridge")

--- Longer lines are broken at a blank: the editor lays out a line as a whole, and a model may well write a megabyte without a break.
M.longest_line = 1000

---@class drawbridge.Transcript
---@field buf integer
---@field private open? { kind: "text"|"thinking", message_id: string, block: integer, mark: integer, painter?: drawbridge.Painter }
---@field private col integer bytes in the line before the tail, while a block is open
---@field private blocks table<string, { block: integer, first: integer, last: integer }[]> finished blocks, by message
---@field private folds { first: integer, last: integer }[] by their marks
---@field private writing boolean
---@field private below { above: table[], mark?: integer } lines drawn above the tail
---@field stacked boolean whether a card ends the text, so that the next one stands right below it
local Transcript = {}
Transcript.__index = Transcript

---@param buf integer
---@return drawbridge.Transcript
function M.new(buf)
  local self = setmetatable({}, Transcript)
  self.buf, self.blocks, self.folds, self.col, self.stacked = buf, {}, {}, 0, false
  return self
end

--- Runs fn, which changes the buffer. Windows whose cursor rests on the tail, or which show the tail without having the focus, go on
--- showing it; all others stay where they are.
---@param fn fun()
function Transcript:write(fn)
  if self.writing then
    return fn()
  end
  if not vim.api.nvim_buf_is_valid(self.buf) then
    return
  end
  self.writing = true
  local tail = vim.api.nvim_buf_line_count(self.buf)
  local following = {}
  for _, win in ipairs(vim.fn.win_findbuf(self.buf)) do
    local at_tail = vim.api.nvim_win_get_cursor(win)[1] >= tail
    local elsewhere = win ~= vim.api.nvim_get_current_win()
    if at_tail or (elsewhere and vim.fn.line("w$", win) >= tail) then
      following[#following + 1] = win
    end
  end
  vim.bo[self.buf].modifiable = true
  local ok, err = xpcall(fn, debug.traceback)
  vim.bo[self.buf].modifiable = false
  self.writing = false
  for _, win in ipairs(following) do
    vim.api.nvim_win_set_cursor(win, { vim.api.nvim_buf_line_count(self.buf), 0 })
  end
  if not ok then
    error(err, 0)
  end
end

--- The row (from 0) of the tail.
function Transcript:tail()
  return vim.api.nvim_buf_line_count(self.buf) - 1
end

--- The row a mark is at.
---@param mark integer
---@return integer
function Transcript:row(mark)
  return vim.api.nvim_buf_get_extmark_by_id(self.buf, M.ns, mark, {})[1]
end

---@param row integer
---@param opts? vim.api.keyset.set_extmark
---@return integer
function Transcript:mark(row, opts)
  return vim.api.nvim_buf_set_extmark(self.buf, M.ns, row, 0, opts or {})
end

--- Puts lines before a row and returns the row of the first.
---@param row integer
---@param lines string[]
function Transcript:insert(row, lines)
  vim.api.nvim_buf_set_lines(self.buf, row, row, true, lines)
  return row
end

--- Puts lines at the end.
---@param lines string[]
---@return integer row of the first
function Transcript:append(lines)
  self:close()
  return self:insert(self:tail(), lines)
end

--- Makes sure that an empty line ends the text.
function Transcript:gap()
  self:close()
  self.stacked = false
  local tail = self:tail()
  if tail > 0 and vim.api.nvim_buf_get_lines(self.buf, tail - 1, tail, true)[1] ~= "" then
    self:insert(tail, { "" })
  end
end

--- Highlights rows as a whole.
---@param first integer
---@param last integer
---@param group string
function Transcript:paint(first, last, group)
  self:mark(first, { end_row = last + 1, end_col = 0, hl_group = group, hl_eol = true, priority = 150, strict = false })
end

--- Adds a piece of text to the last of lines, which has col bytes, and breaks it where it gets too long.
---@param lines string[]
---@param col integer
---@param piece string
---@param prefix string of a line that is begun
local function add_broken(lines, col, piece, prefix)
  local from = 1
  while col + #piece - from + 1 > M.longest_line do
    local room = math.max(M.longest_line - col, 1)
    local stop = from + room - 1
    while stop >= from and piece:byte(stop) ~= 0x20 do
      stop = stop - 1
    end
    if stop < from and col > #prefix then
      stop = from - 1 -- the next line begins with this piece
    elseif stop < from then -- a single word
      stop = from + room - 1
      stop = stop + vim.str_utf_start(piece, stop) - 1 -- before the character that does not fit
      if stop < from then
        stop = from + vim.str_utf_end(piece, from)
      end
    end
    lines[#lines] = lines[#lines] .. piece:sub(from, stop)
    lines[#lines + 1] = prefix
    from, col = stop + 1, #prefix
  end
  lines[#lines] = lines[#lines] .. piece:sub(from)
end

--- Adds streamed text to the block it belongs to.
---@param kind "text"|"thinking"
---@param message_id string
---@param block integer
---@param text string
function Transcript:stream(kind, message_id, block, text)
  local prefix = kind == "thinking" and "> " or ""
  local open = self.open
  if not open or open.kind ~= kind or open.message_id ~= message_id or open.block ~= block then
    self:gap()
    local row = self:append({ prefix })
    open = { kind = kind, message_id = message_id, block = block, mark = self:mark(row) }
    open.painter = kind == "text" and markdown.new(self.buf, M.ns) or nil
    self.open, self.col = open, #prefix
  end
  local lines, col = { "" }, self.col
  for i, piece in ipairs(vim.split(text, "\n", { plain = true })) do
    if i > 1 then
      lines[#lines + 1], col = prefix, #prefix
    end
    add_broken(lines, col, piece, prefix)
    col = #lines[#lines] + (#lines == 1 and self.col or 0)
  end
  local row = self:tail() - 1
  vim.api.nvim_buf_set_text(self.buf, row, self.col, row, self.col, lines)
  self.col = col
  if open.painter and #lines > 1 then
    open.painter:lines(row, row + #lines - 1)
  end
  if kind == "thinking" then
    self:mark(self:row(open.mark), {
      id = open.mark,
      end_row = self:tail() - 1,
      end_col = col,
      hl_group = "DrawbridgeThinking",
      priority = 150,
    })
  end
end

--- Ends the block that is being streamed.
function Transcript:close()
  local open = self.open
  if not open then
    return
  end
  self.open = nil
  local first, last = self:row(open.mark), self:tail() - 1
  if open.painter then
    open.painter:lines(last, last + 1)
  end
  local list = self.blocks[open.message_id] or {}
  self.blocks[open.message_id] = list
  list[#list + 1] = { block = open.block, first = open.mark, last = self:mark(last) }
  if open.kind == "thinking" and config.get().thinking == "folded" then
    self:fold(first, last)
  end
end

--- Takes back what a message has said from a block on.
---@param message_id string
---@param from_block integer
---@return boolean whether anything was shown of it
function Transcript:discard(message_id, from_block)
  self:close()
  local blocks, any = self.blocks[message_id] or {}, false
  for i = #blocks, 1, -1 do
    local b = blocks[i]
    if b.block >= from_block then
      vim.api.nvim_buf_set_lines(self.buf, self:row(b.first), self:row(b.last) + 1, true, {})
      table.remove(blocks, i)
      any = true
    end
  end
  return any
end

--- Folds rows away, in every window that shows the text now or later.
---@param first integer
---@param last integer
function Transcript:fold(first, last)
  if last <= first then
    return
  end
  self.folds[#self.folds + 1] = { first = self:mark(first), last = self:mark(last) }
  for _, win in ipairs(vim.fn.win_findbuf(self.buf)) do
    M.fold_in(win, first, last)
  end
end

---@param win integer
---@param first integer
---@param last integer
function M.fold_in(win, first, last)
  vim.api.nvim_win_call(win, function()
    vim.cmd(("silent! %d,%dfold"):format(first + 1, last + 1))
  end)
end

--- Folds in a window what is folded away in the others.
---@param win integer
function Transcript:fold_all(win)
  for _, f in ipairs(self.folds) do
    M.fold_in(win, self:row(f.first), self:row(f.last))
  end
end

--- Lines drawn between the text and its tail: what goes on just now.
---@param virt_lines [string, string][][]
function Transcript:draw_tail(virt_lines)
  self.tail_mark = self:mark(self:tail(), { id = self.tail_mark, virt_lines = virt_lines, virt_lines_above = true })
end

--- 'foldtext' of the conversation.
function M.foldtext()
  local first = vim.fn.getline(vim.v.foldstart)
  local count = vim.v.foldend - vim.v.foldstart + 1
  if first:sub(1, 2) == "> " then
    return { { ("▸ Thought, %d lines"):format(count), "DrawbridgeThinking" } }
  end
  local text = vim.fn.strcharpart(first, 0, 60)
  if text ~= first then
    text = text .. "…"
  end
  return { { text, "DrawbridgeOutput" }, { (" +%d lines"):format(count - 1), "DrawbridgeHint" } }
end

return M
