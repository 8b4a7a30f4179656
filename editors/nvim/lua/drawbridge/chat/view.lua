--- The two windows of a conversation: its text, and below it the prompt area. They are opened together and closed together.
local config = require("drawbridge.config")
local transcript = require("drawbridge.chat.transcript")

local M = {}

---@class drawbridge.View
---@field text_buf integer
---@field prompt_buf integer
---@field text_win? integer
---@field prompt_win? integer
---@field transcript drawbridge.Transcript
---@field session? drawbridge.Session
local View = {}
View.__index = View

local count = 0

local function scratch(name, filetype)
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(buf, name)
  vim.bo[buf].bufhidden = "hide"
  vim.bo[buf].swapfile = false
  vim.bo[buf].buftype = "nofile"
  vim.bo[buf].filetype = filetype
  return buf
end

---@return drawbridge.View
function M.new()
  count = count + 1
  local self = setmetatable({}, View)
  self.text_buf = scratch(("drawbridge://chat/%d"):format(count), "drawbridge")
  self.prompt_buf = scratch(("drawbridge://prompt/%d"):format(count), "drawbridge_prompt")
  vim.bo[self.text_buf].undolevels = -1 -- what was said is not undone, and the memory for it is not needed
  vim.bo[self.text_buf].modifiable = false
  self.transcript = transcript.new(self.text_buf)
  return self
end

--- A number of cells; a fraction is one of the editor's, and not less than what can be read well if there is room for it.
local function size(given, of, least)
  if given >= 1 then
    return given
  end
  return math.max(math.floor(of * given), math.min(least, of - 30), 10)
end

local split = {
  right = function(o)
    return ("botright %dvsplit"):format(size(o.width, vim.o.columns, 72))
  end,
  left = function(o)
    return ("topleft %dvsplit"):format(size(o.width, vim.o.columns, 72))
  end,
  bottom = function(o)
    return ("botright %dsplit"):format(size(o.height, vim.o.lines, 16))
  end,
  top = function(o)
    return ("topleft %dsplit"):format(size(o.height, vim.o.lines, 16))
  end,
  tab = function()
    return "tab split"
  end,
}

local function set_window(win, options)
  for name, value in pairs(options) do
    vim.api.nvim_set_option_value(name, value, { scope = "local", win = win })
  end
end

local plain = {
  number = false,
  relativenumber = false,
  signcolumn = "no",
  foldcolumn = "0",
  list = false,
  spell = false,
  cursorline = false,
  colorcolumn = "",
  wrap = true,
  linebreak = true,
  breakindent = true,
  conceallevel = 0,
}

--- Whether it is shown in the current tab page.
function View:visible()
  return self.text_win ~= nil
    and vim.api.nvim_win_is_valid(self.text_win)
    and vim.api.nvim_win_get_tabpage(self.text_win) == vim.api.nvim_get_current_tabpage()
end

--- Opens the windows, or finds them. The focus stays where it is unless enter is set.
---@param enter boolean
function View:open(enter)
  if not self:visible() then
    self:close()
    local from = vim.api.nvim_get_current_win()
    local options = config.get()
    vim.cmd(split[options.position](options))
    self.text_win = vim.api.nvim_get_current_win()
    vim.wo[self.text_win].winfixbuf = false -- a split takes over what its window had
    vim.api.nvim_win_set_buf(self.text_win, self.text_buf)
    vim.cmd(("belowright %dsplit"):format(options.prompt_height))
    self.prompt_win = vim.api.nvim_get_current_win()
    vim.api.nvim_win_set_buf(self.prompt_win, self.prompt_buf)
    set_window(self.text_win, plain)
    set_window(self.text_win, {
      foldmethod = "manual",
      foldenable = true,
      foldtext = "v:lua.require'drawbridge.chat.transcript'.foldtext()",
      fillchars = "fold: ,eob: ",
      winfixbuf = true,
      winbar = "%{%v:lua.require'drawbridge.statusline'.winbar()%}",
    })
    set_window(self.prompt_win, plain)
    set_window(self.prompt_win, {
      winfixheight = true,
      winfixbuf = true,
      fillchars = "eob: ",
      winbar = "%{%v:lua.require'drawbridge.statusline'.prompt_bar()%}",
    })
    self.transcript:fold_all(self.text_win)
    vim.api.nvim_win_set_cursor(self.text_win, { vim.api.nvim_buf_line_count(self.text_buf), 0 })
    self:watch()
    vim.api.nvim_set_current_win(from)
  end
  if enter then
    vim.api.nvim_set_current_win(self.prompt_win)
  end
end

--- Closing one window closes the other.
---@private
function View:watch()
  local group = vim.api.nvim_create_augroup("drawbridge_view_" .. self.text_buf, {})
  for win, other in pairs({ [self.text_win] = self.prompt_win, [self.prompt_win] = self.text_win }) do
    vim.api.nvim_create_autocmd("WinClosed", {
      group = group,
      pattern = tostring(win),
      callback = function()
        vim.schedule(function()
          if vim.api.nvim_win_is_valid(other) then
            pcall(vim.api.nvim_win_close, other, true)
          end
          self.text_win, self.prompt_win = nil, nil
        end)
      end,
    })
  end
  vim.api.nvim_create_autocmd("WinResized", {
    group = group,
    callback = function()
      if self:visible() and vim.list_contains(vim.v.event.windows or {}, self.text_win) and self.session then
        self.session:redraw()
      end
    end,
  })
end

function View:close()
  for _, win in ipairs({ self.prompt_win, self.text_win }) do
    if win and vim.api.nvim_win_is_valid(win) then
      if not pcall(vim.api.nvim_win_close, win, true) then -- the last window of the editor
        vim.wo[win].winfixbuf = false
        vim.api.nvim_win_call(win, function()
          vim.cmd.enew()
        end)
      end
    end
  end
  self.text_win, self.prompt_win = nil, nil
end

--- The cells of a line of the text.
function View:width()
  local width
  for _, win in ipairs(vim.fn.win_findbuf(self.text_buf)) do
    width = math.min(width or math.huge, vim.api.nvim_win_get_width(win))
  end
  return width or 80
end

--- What stands in the prompt area.
---@return string
function View:draft()
  return table.concat(vim.api.nvim_buf_get_lines(self.prompt_buf, 0, -1, false), "\n")
end

---@param draft string
function View:set_draft(draft)
  vim.api.nvim_buf_set_lines(self.prompt_buf, 0, -1, false, vim.split(draft, "\n", { plain = true }))
end

--- Puts text into the prompt area that must not be lost: before what stands there.
---@param lost string
function View:give_back(lost)
  local draft = self:draft()
  self:set_draft(vim.trim(draft) == "" and lost or lost .. "\n\n" .. draft)
end

--- A window that does not belong to the conversation: where files are opened.
---@return integer?
function View:other_window()
  local previous = vim.fn.win_getid(vim.fn.winnr("#"))
  local candidates = vim.api.nvim_tabpage_list_wins(0)
  table.insert(candidates, 1, previous)
  for _, win in ipairs(candidates) do
    if
      win ~= 0
      and win ~= self.text_win
      and win ~= self.prompt_win
      and vim.api.nvim_win_is_valid(win)
      and vim.api.nvim_win_get_config(win).relative == ""
      and not vim.wo[win].winfixbuf
    then
      return win
    end
  end
end

--- Opens a file beside the conversation.
---@param path string
---@param line? integer
function View:open_file(path, line)
  local win = self:other_window()
  if win then
    vim.api.nvim_set_current_win(win)
  else
    vim.cmd("topleft vsplit")
    vim.wo.winfixbuf = false
  end
  vim.cmd.edit(vim.fn.fnameescape(path))
  if line then
    pcall(vim.api.nvim_win_set_cursor, 0, { line, 0 })
    vim.cmd("normal! zv")
  end
end

return M
