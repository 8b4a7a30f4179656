--- The keys of the two buffers of a conversation.
local config = require("drawbridge.config")
local prompt = require("drawbridge.prompt")

local M = {}

---@param session drawbridge.Session
local function send(session)
  local draft = vim.trim(session.view:draft())
  if draft == "" then
    return
  end
  require("drawbridge.context").gather(session, draft, function(context)
    session.view:set_draft("")
    session:send(draft, context)
    session.attached = {}
    vim.cmd.redrawstatus({ bang = true })
  end)
end
M.send = send

--- A file and a line in the text under the cursor: path, path:line, path(line).
---@return string? path
---@return integer? line
local function location(session)
  local word = vim.fn.expand("<cWORD>")
  local trimmed = word:gsub("^[%(%[<'\"`]+", ""):gsub("[%)%]>'\"`,;:.]+$", "")
  local path, line = trimmed:match("^(.-):(%d+)")
  path = path or trimmed
  local function find(candidate)
    if candidate == "" then
      return
    end
    local full = candidate:sub(1, 1) == "/" and candidate or vim.fs.joinpath(session.info.cwd or session.cwd, candidate)
    return vim.uv.fs_stat(full) and full or nil
  end
  local found = find(path)
  if found then
    return found, tonumber(line)
  end
  -- Nothing under the cursor: the place that the tool of this card is about.
  local c = session:card_at_cursor()
  local place = c and c.use.locations and c.use.locations[1]
  if place then
    return find(place.path), place.line
  end
end

--- Shows everything about the card under the cursor.
local function details(session)
  local c = session:card_at_cursor()
  if not c then
    return prompt.say("there is no tool under the cursor")
  end
  local buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, c:details())
  vim.bo[buf].modifiable = false
  vim.bo[buf].bufhidden = "wipe"
  vim.cmd("tab sbuffer " .. buf)
end

---@param session drawbridge.Session
function M.map(session)
  local keys = config.get().keys
  local text_buf, prompt_buf = session.view.text_buf, session.view.prompt_buf

  local function map(buffers, modes, key, fn, desc)
    if not key then
      return
    end
    for _, buf in ipairs(buffers) do
      vim.keymap.set(modes, key, fn, { buffer = buf, desc = desc })
    end
  end

  local both = { text_buf, prompt_buf }
  map({ prompt_buf }, "n", keys.send, function()
    send(session)
  end, "Send the message")
  map({ prompt_buf }, "i", keys.send_insert, function()
    send(session)
  end, "Send the message")
  map(both, "n", keys.interrupt, function()
    session:interrupt()
  end, "Interrupt Claude")
  map(both, "n", keys.next_prompt, function()
    prompt.go(session)
  end, "Go to the next question")
  map(both, "n", keys.previous_prompt, function()
    prompt.go(session, true)
  end, "Go to the previous question")

  map({ text_buf }, "n", "gf", function()
    local path, line = location(session)
    if not path then
      return prompt.say("there is no file under the cursor")
    end
    session.view:open_file(path, line)
  end, "Open the file under the cursor")
  map({ text_buf }, "n", "<CR>", function()
    details(session)
  end, "Show all about the tool under the cursor")
  map({ text_buf }, "n", "i", function()
    session.view:open(true)
    vim.cmd.startinsert()
  end, "Write a message")
  prompt.map(text_buf)

  vim.bo[prompt_buf].omnifunc = "v:lua.require'drawbridge.complete'.omnifunc"
  vim.keymap.set("i", "<Tab>", function()
    if vim.fn.pumvisible() == 1 then
      return "<C-n>"
    end
    local before = vim.api.nvim_get_current_line():sub(1, vim.api.nvim_win_get_cursor(0)[2])
    return (before:find("@%S*$") or before:find("^/%S*$")) and "<C-x><C-o>" or "<Tab>"
  end, { buffer = prompt_buf, expr = true, desc = "Complete a file or a command" })
end

return M
