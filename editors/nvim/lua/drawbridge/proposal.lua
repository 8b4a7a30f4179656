--- A tab page of its own in which a prompt is looked at and answered: a diff, a command to edit, a plan. Only a key of its own accepts:
--- writing a buffer does not (a plugin may do that by itself), nor does closing a window.
local config = require("drawbridge.config")
local prompt = require("drawbridge.prompt")

local M = {}

---@class drawbridge.Proposal
---@field p drawbridge.Prompt
---@field tab integer
---@field wins integer[]
---@field bufs integer[]
---@field done boolean

---@class drawbridge.ProposalOptions
---@field accept fun() the user accepts what is shown
---@field closed fun() the user has closed a window of it
---@field reject? fun()
---@field reject_reason? fun()
---@field title string plain text
---@field left? string title of the left window
---@field keys [string, string][] key and what it does

--- Makes a scratch buffer. One that can be changed is of type acwrite: writing it marks it as written and does nothing else.
---@param name string
---@param lines string[]
---@param editable boolean
---@return integer
function M.buffer(name, lines, editable)
  local old = vim.fn.bufnr("^" .. vim.fn.fnameescape(name) .. "$")
  if old > 0 then
    vim.api.nvim_buf_delete(old, { force = true })
  end
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].bufhidden = "hide"
  vim.bo[buf].swapfile = false
  if editable then
    vim.bo[buf].buftype = "acwrite"
    vim.api.nvim_create_autocmd("BufWriteCmd", {
      buffer = buf,
      callback = function()
        vim.bo[buf].modified = false
        prompt.say(("nothing is accepted by writing: press %s"):format(config.get().keys.accept))
      end,
    })
  else
    vim.bo[buf].modifiable = false
  end
  vim.api.nvim_buf_set_name(buf, name)
  vim.bo[buf].modified = false
  return buf
end

--- Shows buffers side by side in a new tab page; the last one gets the cursor.
---@param p drawbridge.Prompt
---@param bufs integer[]
---@param options drawbridge.ProposalOptions
---@return drawbridge.Proposal
function M.open(p, bufs, options)
  local from = vim.api.nvim_get_current_tabpage()
  local opened = vim.uv.hrtime()
  local self = { p = p, bufs = bufs, wins = {}, done = false }
  for i, buf in ipairs(bufs) do
    vim.cmd(("%s sbuffer %d"):format(i == 1 and "tab" or "vertical belowright", buf))
    self.wins[i] = vim.api.nvim_get_current_win()
    vim.wo.winfixbuf = true
    -- Every window has one, or the lines of a diff would not be level.
    vim.wo.winbar = " %#DrawbridgeHint#" .. (i < #bufs and (options.left or "") or "") .. "%*"
  end
  self.tab = vim.api.nvim_get_current_tabpage()
  local group = vim.api.nvim_create_augroup("drawbridge_proposal_" .. self.tab, {})

  function self.close()
    if self.done then
      return
    end
    self.done = true
    p.closed = nil
    vim.api.nvim_del_augroup_by_id(group)
    for _, win in ipairs(self.wins) do
      if vim.api.nvim_win_is_valid(win) then
        pcall(vim.api.nvim_win_close, win, true)
      end
    end
    for _, buf in ipairs(bufs) do
      pcall(vim.api.nvim_buf_delete, buf, { force = true })
    end
    if vim.api.nvim_tabpage_is_valid(from) and not vim.api.nvim_tabpage_is_valid(self.tab) then
      vim.api.nvim_set_current_tabpage(from)
    end
  end
  p.closed = self.close

  for _, win in ipairs(self.wins) do
    vim.api.nvim_create_autocmd("WinClosed", {
      group = group,
      pattern = tostring(win),
      callback = function()
        vim.schedule(function()
          if not self.done then
            self.close()
            options.closed()
          end
        end)
      end,
    })
  end

  local bar = { "%#DrawbridgeUser# ", (options.title:gsub("%%", "%%%%")), "%*  " }
  for _, pair in ipairs(options.keys) do
    bar[#bar + 1] = ("%%#DrawbridgePromptKey#%s%%* %s  "):format(pair[1], pair[2])
  end
  vim.wo.winbar = table.concat(bar) .. "%<"

  local keys = config.get().keys
  local function guarded(fn)
    return function()
      if p.answered or p.over then
        return prompt.say("that question is closed")
      elseif (vim.uv.hrtime() - opened) / 1e6 < config.get().settle_ms then
        return prompt.say("too early: this has only just appeared")
      end
      fn()
    end
  end
  for _, buf in ipairs(bufs) do
    if keys.accept then
      vim.keymap.set("n", keys.accept, guarded(options.accept), { buffer = buf, desc = "Accept what is shown" })
    end
    if keys.reject and options.reject then
      vim.keymap.set("n", keys.reject, guarded(options.reject), { buffer = buf, desc = "Reject it" })
    end
    if keys.reject_reason and options.reject_reason then
      vim.keymap.set("n", keys.reject_reason, guarded(options.reject_reason), { buffer = buf, desc = "Reject it and say why" })
    end
  end
  return self
end

return M
