--- :Drawbridge and its subcommands.
local client = require("drawbridge.client")
local drawbridge = require("drawbridge")
local inspect = require("drawbridge.inspect")
local protocol = require("drawbridge.protocol")

local M = {}

---@class drawbridge.Subcommand
---@field run fun(arguments: string, command: table)
---@field complete? fun(lead: string): string[]

local function say(message, level)
  vim.notify("drawbridge: " .. message, level or vim.log.levels.INFO)
end

---@return drawbridge.Session?
local function current()
  local session = require("drawbridge.session").current
  if not session then
    say("there is no conversation yet: :Drawbridge open", vim.log.levels.WARN)
  end
  return session
end

--- Sets something of the running conversation.
local function set(method, field, value, known)
  local session = drawbridge.session()
  local function apply(chosen)
    if not chosen or chosen == "" then
      return
    end
    if not session.id then
      return say("Claude is not ready yet", vim.log.levels.WARN)
    end
    client.request(method, { session_id = session.id, [field] = chosen }, function(err)
      if err then
        session:report(err)
      end
    end)
  end
  if value ~= "" then
    return apply(value)
  end
  vim.ui.select(known(session), { prompt = "Which " .. field }, apply)
end

local function modes(session)
  return session and session.info.modes or { "default", "acceptEdits", "plan" }
end

local function models(session)
  return vim.tbl_map(function(model)
    return model.value
  end, session and session.info.models or {})
end

local function completing(list)
  return function(lead)
    local session = package.loaded["drawbridge.session"] and require("drawbridge.session").current
    return vim.tbl_filter(function(word)
      return vim.startswith(word, lead)
    end, type(list) == "function" and list(session) or list)
  end
end

local function restart()
  local session = require("drawbridge.session").current
  if not session then
    return client.stop()
  end
  session:detach() -- what is written meanwhile waits
  client.stop(function()
    session:reopen()
    session.view:open(false)
  end)
end

---@type table<string, drawbridge.Subcommand>
M.subcommands = {
  open = { run = drawbridge.open },
  close = { run = drawbridge.close },
  toggle = { run = drawbridge.toggle },
  new = { run = drawbridge.new },
  send = {
    run = function(arguments)
      if arguments ~= "" then
        return drawbridge.send(arguments)
      end
      local session = current()
      if session then
        require("drawbridge.chat.keys").send(session)
      end
    end,
  },
  add = {
    run = function(arguments, command)
      local range = command.range > 0 and { first = command.line1, last = command.line2 } or nil
      drawbridge.add(arguments ~= "" and arguments or (range and "selection" or "file"), range)
    end,
    complete = function(lead)
      local words = completing({ "file", "selection", "diagnostics", "quickfix" })(lead)
      return vim.list_extend(words, vim.fn.getcompletion(lead, "file"))
    end,
  },
  drop = {
    run = function()
      local session = current()
      if session then
        require("drawbridge.context").drop(session)
      end
    end,
  },
  unqueue = {
    run = function()
      local session = current()
      local queued = session and session:queued() or {}
      if #queued == 0 then
        return say("no message waits")
      end
      vim.ui.select(queued, {
        prompt = "Take out of the queue",
        format_item = function(sent)
          return (sent.text:gsub("\n.*", " …"))
        end,
      }, function(sent)
        local message = sent and session:unqueue(sent)
        if message then
          session.view:give_back(message)
        end
      end)
    end,
  },
  prompt = {
    run = function(arguments)
      local session = current()
      if session then
        require("drawbridge.prompt").go(session, arguments == "previous")
      end
    end,
    complete = completing({ "previous" }),
  },
  answer = {
    run = function()
      local prompt = require("drawbridge.prompt")
      local p = prompt.at_cursor() or prompt.open[1]
      if not p then
        return say("Claude asks nothing")
      end
      prompt.select(p)
    end,
  },
  diff = {
    run = function()
      local prompt, diff = require("drawbridge.prompt"), require("drawbridge.diff")
      local here = prompt.at_cursor()
      for _, p in ipairs(here and { here } or prompt.open) do
        if p.params.tool and diff.possible(p) then
          return diff.open(p)
        end
      end
      say("no edit is proposed")
    end,
  },
  interrupt = { run = drawbridge.interrupt },
  mode = {
    run = function(arguments)
      set(protocol.request.set_permission_mode, "mode", arguments, modes)
    end,
    complete = completing(modes),
  },
  model = {
    run = function(arguments)
      set(protocol.request.set_model, "model", arguments, models)
    end,
    complete = completing(models),
  },
  sessions = {
    run = function()
      require("drawbridge.picker").pick("Resume", function(row)
        drawbridge.resume(row.session_id)
      end)
    end,
  },
  resume = {
    run = function(arguments)
      if arguments ~= "" then
        return drawbridge.resume(arguments)
      end
      M.subcommands.sessions.run("", {})
    end,
  },
  fork = {
    run = function(arguments)
      if arguments ~= "" then
        return drawbridge.resume(arguments, true)
      end
      require("drawbridge.picker").pick("Go on with a copy of", function(row)
        drawbridge.resume(row.session_id, true)
      end)
    end,
  },
  rename = {
    run = function(arguments)
      local session = current()
      if not session or not client.can("list") then
        return say("this bridge keeps no conversations", vim.log.levels.WARN)
      end
      client.request(protocol.request.session_rename, { session_id = session.id, title = arguments }, function(err)
        if err then
          session:report(err)
        end
      end)
    end,
  },
  delete = {
    run = function()
      require("drawbridge.picker").pick("Delete", function(row)
        local question = ("Delete %q for good?"):format(require("drawbridge.picker").label(row))
        vim.ui.select({ "Keep it", "Delete it" }, { prompt = question }, function(_, choice)
          if choice ~= 2 then
            return
          end
          client.request(protocol.request.session_delete, { session_id = row.session_id }, function(err)
            say(err and err.message or "deleted")
          end)
        end)
      end)
    end,
  },
  trust = {
    run = function(arguments)
      local trust, cwd = require("drawbridge.prompt.trust"), vim.fn.getcwd()
      if arguments == "forget" then
        trust.keep(cwd, nil)
        return say("it is asked again whether " .. cwd .. " is trusted")
      end
      local known = trust.known(cwd)
      say(cwd .. (known == nil and " was not asked about" or known and " is trusted" or " is not trusted"))
    end,
    complete = completing({ "forget" }),
  },
  rules = {
    run = function()
      local session = current()
      if not session or not session.id then
        return
      end
      client.request(protocol.request.permission_rules, { session_id = session.id }, function(err, result)
        if err then
          return session:report(err)
        end
        vim.ui.select(result.rules, {
          prompt = "Revoke",
          format_item = function(rule)
            return ("%s %s (%s%s)"):format(rule.list, rule.rule, rule.scope, rule.problem and ", " .. rule.problem or "")
          end,
        }, function(rule)
          if rule then
            client.request(protocol.request.permission_revoke, { session_id = session.id, rule_id = rule.rule_id }, function(failed)
              say(failed and failed.message or ("revoked: " .. rule.rule))
            end)
          end
        end)
      end)
    end,
  },
  stop = {
    run = function()
      client.stop()
    end,
  },
  restart = { run = restart },
  log = { run = inspect.log, complete = completing({ "lsp" }) },
  trace = {
    run = function(arguments)
      inspect.trace(arguments)
      restart()
    end,
    complete = completing({ "off" }),
  },
  doctor = { run = inspect.doctor },
  health = {
    run = function()
      vim.cmd("checkhealth drawbridge")
    end,
  },
}

---@param command table
function M.run(command)
  local name, arguments = command.args:match("^(%S*)%s*(.-)%s*$")
  if name == "" then
    name = "open"
  end
  local subcommand = M.subcommands[name]
  if not subcommand then
    return say(("there is no subcommand %q; see :help :Drawbridge"):format(name), vim.log.levels.ERROR)
  end
  subcommand.run(arguments, command)
end

---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local rest = line:gsub("^.-Drawbridge!?%s+", "", 1)
  local name = rest:match("^(%S+)%s")
  if name then
    local subcommand = M.subcommands[name]
    return subcommand and subcommand.complete and subcommand.complete(lead) or {}
  end
  local names = vim.tbl_filter(function(n)
    return vim.startswith(n, lead)
  end, vim.tbl_keys(M.subcommands))
  table.sort(names)
  return names
end

return M
