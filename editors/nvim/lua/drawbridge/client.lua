--- One bridge process for the editor, spoken to through vim.lsp.rpc.
---
---   ensure()                  find the program, start it, initialize        once, whoever asks first
---     "ready"                 every waiting callback runs
---   request / notify          editor → bridge
---   dispatchers.notification  bridge → editor: handed to the session it names, on the main loop, in order
---   dispatchers.server_request  a coroutine that yields until the user has answered
---   on_exit                   every open request and question ends, the screen says why
local binary = require("drawbridge.binary")
local config = require("drawbridge.config")
local protocol = require("drawbridge.protocol")

local M = {}

---@class drawbridge.ClientError
---@field message string
---@field remedy? string
---@field kind? string
---@field expected? boolean the user ended it

---@type "stopped"|"starting"|"ready"|"stopping"
M.state = "stopped"
---@type drawbridge.InitializeResult?
M.hello = nil
---@type drawbridge.ClientError? why it is not running
M.failure = nil
---@type string[]? how it was started
M.command = nil
---@type string? what both sides say is written there
M.trace_file = nil

local rpc ---@type vim.lsp.rpc.PublicClient?
local waiting = {} ---@type fun(err?: drawbridge.ClientError)[]
local pending = {} ---@type table<integer, fun(err: drawbridge.ClientError)> what to tell those whose answer will not come
local generation = 0 -- of processes: what an old one still says does not count
local ending = false
local stopped = {} ---@type fun()[] who waits for the end of the process

--- Who listens: set by the session module.
---@class drawbridge.Listener
---@field notification fun(method: string, params: table)
---@field ask fun(method: string, params: table, respond: fun(result?: table, err?: table))
---@field ended fun(err: drawbridge.ClientError)
M.listener = { notification = function() end, ask = function() end, ended = function() end }

---@param err table
---@return drawbridge.ClientError
local function readable(err)
  local data = type(err.data) == "table" and err.data or {}
  return { message = err.message or "the request failed", remedy = data.remedy, kind = data.kind }
end

local function settle(err)
  local callbacks = waiting
  waiting = {}
  for _, callback in ipairs(callbacks) do
    callback(err)
  end
end

---@param err drawbridge.ClientError
local function fail(err)
  M.state, M.failure, rpc = "stopped", err, nil
  settle(err)
end

local function on_exit(mine, code, signal)
  if mine ~= generation then
    return
  end
  local was, expected = M.state, ending
  local unanswered = pending
  pending, rpc, ending = {}, nil, false
  local err = { expected = expected, kind = "bridge_exited" }
  if expected then
    err.message = "The bridge was stopped."
  else
    local how = signal ~= 0 and ("it was ended by signal %d"):format(signal) or ("it exited with status %d"):format(code)
    err.message = ("The bridge %s: %s."):format(was == "starting" and "did not start" or "is gone", how)
    err.remedy = "`:Drawbridge restart` starts it again; `:Drawbridge log` shows its last words."
    if code == 2 and was == "starting" then
      err.remedy = "The command does not understand its arguments: check the options command and serve_args, or update drawbridge."
    end
  end
  M.state, M.failure = "stopped", err
  for _, callback in pairs(unanswered) do
    callback(err)
  end
  settle(err)
  M.listener.ended(err)
  local callbacks = stopped
  stopped = {}
  for _, callback in ipairs(callbacks) do
    callback()
  end
end

--- Asks the listener and sleeps until it has an answer. vim.lsp.rpc runs this in a coroutine of its own and sends what it returns.
local function server_request(method, params)
  if not protocol.question[method] then
    return nil, { code = protocol.code.method_not_found, message = "unknown request " .. method }
  end
  local thread = coroutine.running()
  local answer, answered, sleeping = nil, false, false
  M.listener.ask(method, params, function(result, err)
    if answered then
      return
    end
    answered, answer = true, { result, err }
    if sleeping then
      local ok, message = coroutine.resume(thread)
      if not ok then
        vim.notify("drawbridge: the answer could not be sent: " .. tostring(message), vim.log.levels.ERROR)
      end
    end
  end)
  if not answered then
    sleeping = true
    coroutine.yield()
  end
  return answer[1], answer[2]
end

---@param callback fun(err?: drawbridge.ClientError)
function M.ensure(callback)
  if M.state == "ready" then
    return callback()
  end
  waiting[#waiting + 1] = callback
  if M.state == "starting" then
    return
  elseif M.state == "stopping" then -- once it is gone
    waiting[#waiting] = nil
    stopped[#stopped + 1] = function()
      M.ensure(callback)
    end
    return
  end
  local found = binary.find()
  if not found.command then
    local message, remedy = binary.missing(found)
    return fail({ message = message, remedy = remedy, kind = "bridge_missing" })
  end
  local options = config.get()
  local command = vim.deepcopy(found.command)
  if not vim.list_contains(command, "serve") then
    command[#command + 1] = "serve"
  end
  vim.list_extend(command, options.serve_args)
  if M.trace_file then
    vim.list_extend(command, { "--trace", M.trace_file })
  end
  generation = generation + 1
  local mine = generation
  M.state, M.failure, M.command, ending = "starting", nil, command, false
  local ok, result = pcall(require("drawbridge.reader").start, command, {
    notification = function(method, params)
      if mine == generation then
        M.listener.notification(method, params)
      end
    end,
    server_request = server_request,
    on_exit = vim.schedule_wrap(function(code, signal)
      on_exit(mine, code, signal)
    end),
    on_error = function(code, err)
      vim.notify(("drawbridge: %s: %s"):format(vim.lsp.rpc.client_errors[code], vim.inspect(err)), vim.log.levels.DEBUG)
    end,
  }, { cwd = vim.fn.getcwd() })
  if not ok then
    return fail({ message = "The bridge could not be started: " .. tostring(result), remedy = "Check the option command." })
  end
  rpc = result
  M.request(protocol.request.initialize, {
    protocol_version = protocol.version,
    client_info = { name = "neovim", version = tostring(vim.version()) },
    process_id = vim.uv.os_getpid(),
    cwd = vim.fn.getcwd(),
    capabilities = {
      streaming = true,
      permissions = true,
      progress = true,
      thinking = options.thinking ~= "hidden",
      questions = true,
      diffs = true,
      raw_events = false,
    },
    options = vim.empty_dict(),
  }, function(err, hello)
    if mine ~= generation then
      return
    end
    if err then
      if err.kind == "bridge_exited" then
        return -- told by on_exit
      end
      if err.kind == "protocol_version" then
        err.remedy = "Plugin and bridge are of different ages: update the older one (the plugin is " .. binary.plugin_version .. ")."
      end
      M.stop()
      M.state, M.failure = "stopped", err
      return settle(err)
    end
    if binary.older(hello.server_info.version, binary.oldest) then
      M.stop()
      M.state = "stopped"
      M.failure = {
        message = ("drawbridge %s is too old for this plugin, which needs %s."):format(hello.server_info.version, binary.oldest),
        remedy = "Update it: " .. command[1],
      }
      return settle(M.failure)
    end
    M.state, M.hello = "ready", hello
    settle(nil)
  end)
end

---@param method string
---@param params table
---@param callback? fun(err?: drawbridge.ClientError, result?: table)
---@return integer? id
function M.request(method, params, callback)
  callback = callback or function() end
  if not rpc or rpc.is_closing() then
    callback(M.failure or { message = "The bridge is not running.", remedy = "`:Drawbridge restart` starts it." })
    return
  end
  if next(params) == nil then
    params = vim.empty_dict()
  end
  local id
  local sent, message_id = rpc.request(method, params, function(err, result)
    if id then
      pending[id] = nil
    end
    if err then
      return callback(readable(err))
    end
    callback(nil, result)
  end)
  if not sent then
    callback({ message = "The bridge is not running.", remedy = "`:Drawbridge restart` starts it." })
    return
  end
  id = message_id --[[@as integer]]
  pending[id] = callback
  return id
end

---@param method string
---@param params table
function M.notify(method, params)
  if rpc and not rpc.is_closing() then
    rpc.notify(method, next(params) and params or vim.empty_dict())
  end
end

--- Ends the bridge: shutdown, exit, and if it is still there after five seconds, a signal. The editor does not wait for it.
---@param callback? fun() when it is gone
function M.stop(callback)
  local process = rpc
  if not process then
    return callback and callback()
  end
  ending, M.state = true, "stopping"
  stopped[#stopped + 1] = callback
  local timer = assert(vim.uv.new_timer())
  local mine = generation
  timer:start(5000, 0, function()
    timer:close()
    if mine == generation and not process.is_closing() then
      process.terminate()
    end
  end)
  M.request(protocol.request.shutdown, {}, function()
    process.notify("exit", vim.empty_dict())
  end)
end

--- When the editor ends, the end of its pipe ends the bridge; this only tells it sooner.
function M.leave()
  if rpc and not rpc.is_closing() then
    ending = true
    rpc.request(protocol.request.shutdown, vim.empty_dict(), function() end)
    rpc.notify("exit", vim.empty_dict())
  end
end

---@param name string
function M.can(name)
  local sessions = M.hello and M.hello.capabilities.sessions
  return type(sessions) == "table" and vim.list_contains(sessions, name)
end

return M
