--- Text of others on its way to the screen.
local M = {}

--- Characters that are drawn as nothing, reorder what is drawn, or look like a blank and are none.
local function hidden(c)
  return c < 0x20 and c ~= 0x0a
    or c == 0x7f
    or (c >= 0x80 and c <= 0xa0)
    or c == 0xad
    or c == 0x34f
    or c == 0x61c
    or (c >= 0x115f and c <= 0x1160)
    or c == 0x1680
    or (c >= 0x17b4 and c <= 0x17b5)
    or (c >= 0x180b and c <= 0x180f)
    or (c >= 0x2000 and c <= 0x200f)
    or (c >= 0x2028 and c <= 0x202f)
    or (c >= 0x205f and c <= 0x206f)
    or c == 0x2800
    or c == 0x3000
    or c == 0x3164
    or (c >= 0xe000 and c <= 0xf8ff)
    or (c >= 0xfe00 and c <= 0xfe0f)
    or c == 0xfeff
    or c == 0xffa0
    or (c >= 0xfff0 and c <= 0xfffb)
    or (c >= 0x1d173 and c <= 0x1d17a)
    or (c >= 0xe0000 and c <= 0xe0fff)
end

--- Makes everything visible that is not: ‹U+202E›. The bridge has done it to what it sends for display; this is for the rest. Line
--- breaks stay.
---@param s string
---@return string
function M.visible(s)
  if not s:find("[\1-\9\11-\31\127\194-\244]") and not s:find("%z") then
    return s
  end
  local out = {}
  for _, at in ipairs(vim.str_utf_pos(s)) do
    local char = s:sub(at, at + vim.str_utf_end(s, at))
    local code = vim.fn.char2nr(char)
    if char == "\t" then
      out[#out + 1] = "‹TAB›"
    elseif char == "\0" or hidden(code) then
      out[#out + 1] = ("‹U+%04X›"):format(char == "\0" and 0 or code)
    else
      out[#out + 1] = char
    end
  end
  return table.concat(out)
end

--- The lines of s; a line break at the end begins no line.
---@param s string
---@return string[]
function M.lines(s)
  local lines = vim.split(s, "\n", { plain = true })
  if #lines > 1 and lines[#lines] == "" then
    lines[#lines] = nil
  end
  return lines
end

--- The first lines of s without splitting all of it.
---@param s string
---@param most_lines integer
---@param most_bytes integer
---@return string[] lines
---@return integer rest how many lines are left out
---@return boolean cut whether the last line is not whole
function M.head(s, most_lines, most_bytes)
  local lines, from, cut = {}, 1, false
  while #lines < most_lines and from <= #s do
    local at = s:find("\n", from, true) or #s + 1
    if at - 1 > most_bytes then
      local keep = math.max(most_bytes, from)
      keep = keep + vim.str_utf_end(s, keep)
      lines[#lines + 1] = s:sub(from, keep)
      cut = keep < at - 1
      from = at + 1
      break
    end
    lines[#lines + 1] = s:sub(from, at - 1)
    from = at + 1
  end
  local rest = 0
  while from <= #s do
    rest = rest + 1
    from = (s:find("\n", from, true) or #s) + 1
  end
  return lines, rest, cut
end

--- Breaks one line of text into rows of at most width cells, at blanks where there are any. Nothing is left out.
---@param s string
---@param width integer
---@return string[]
function M.wrap(s, width)
  width = math.max(width, 10)
  local rows = {}
  for _, line in ipairs(vim.split(s, "\n", { plain = true })) do
    while vim.fn.strdisplaywidth(line) > width do
      local piece = vim.fn.strcharpart(line, 0, width)
      while vim.fn.strdisplaywidth(piece) > width do
        piece = vim.fn.strcharpart(piece, 0, vim.fn.strchars(piece) - 1)
      end
      local blank = piece:find(" [^ ]*$")
      if blank and blank > #piece / 3 then
        piece = piece:sub(1, blank)
      end
      rows[#rows + 1] = piece
      line = line:sub(#piece + 1)
    end
    rows[#rows + 1] = line
  end
  return rows
end

--- A duration, short: 0.4 s, 12 s, 3 min 5 s.
---@param ms number
---@return string
function M.duration(ms)
  if ms < 10000 then
    return ("%.1f s"):format(ms / 1000)
  elseif ms < 60000 then
    return ("%d s"):format(ms / 1000)
  end
  return ("%d min %d s"):format(ms / 60000, ms / 1000 % 60)
end

--- A number of tokens, short: 950, 12k, 1.2M.
---@param n number
---@return string
function M.count(n)
  if n < 1000 then
    return ("%d"):format(n)
  elseif n < 1000000 then
    return ("%dk"):format(n / 1000)
  end
  return ("%.1fM"):format(n / 1000000)
end

return M
