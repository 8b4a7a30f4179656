--- Claude in Neovim. Everything here can be done with `:Drawbridge` too; see |drawbridge|.
local M = {}

--- Sets options; not needed for the defaults.
---@param options? table see |drawbridge-options|
function M.setup(options)
  require("drawbridge.config").set(options)
end

local prepared = false

local function prepare()
  if prepared then
    return
  end
  prepared = true
  require("drawbridge.highlight").setup()
  vim.api.nvim_create_autocmd("VimLeavePre", {
    group = vim.api.nvim_create_augroup("drawbridge_leave", {}),
    callback = function()
      require("drawbridge.client").leave()
    end,
  })
end

--- The conversation of this editor; made, and Claude started, if there is none.
---@return drawbridge.Session
function M.session()
  prepare()
  local sessions = require("drawbridge.session")
  if not sessions.current then
    sessions.new(vim.fn.getcwd()):open()
  end
  return sessions.current
end

--- Shows the conversation and goes to its prompt area.
function M.open()
  M.session().view:open(true)
end

--- Hides the conversation. It goes on.
function M.close()
  local session = require("drawbridge.session").current
  if session then
    session.view:close()
  end
end

function M.toggle()
  local session = require("drawbridge.session").current
  if session and session.view:visible() then
    return M.close()
  end
  M.open()
end

--- Begins a new conversation; the one before is closed, and can be resumed where the bridge keeps conversations.
function M.new()
  prepare()
  local sessions = require("drawbridge.session")
  local before = sessions.current
  if before then
    before.view:close()
    before:close()
  end
  local session = sessions.new(vim.fn.getcwd())
  session.view:open(true)
  session:open()
end

--- Goes on with a conversation of the past.
---@param conversation string its id
---@param fork? boolean leaves the old one as it is
function M.resume(conversation, fork)
  prepare()
  local sessions = require("drawbridge.session")
  local before = sessions.current
  if before then
    before.view:close()
    before:close()
  end
  local session = sessions.new(vim.fn.getcwd())
  session.view:open(true)
  session:open({ session_id = conversation, fork = fork })
end

--- Sends a message.
---@param message string
function M.send(message)
  local session = M.session()
  session.view:open(false)
  require("drawbridge.context").gather(session, message, function(context)
    session:send(message, context)
    session.attached = {}
  end)
end

--- Attaches something to the next message.
---@param what "file"|"selection"|"diagnostics"|"quickfix"|string
---@param range? { first: integer, last: integer }
function M.add(what, range)
  local session = M.session()
  local problem = require("drawbridge.context").add(session, what, range)
  if problem then
    vim.notify("drawbridge: " .. problem, vim.log.levels.WARN)
  else
    session.view:open(false)
  end
end

function M.interrupt()
  local session = require("drawbridge.session").current
  if session then
    session:interrupt()
  end
end

--- For a status line: "" as long as there is no conversation.
---@return string
function M.statusline()
  return require("drawbridge.statusline").component()
end

return M
