--- :checkhealth drawbridge. It asks the program for its version and for `doctor`, and starts nothing else.
local binary = require("drawbridge.binary")
local client = require("drawbridge.client")
local config = require("drawbridge.config")

local M = {}

local function run(command)
  local ok, process = pcall(vim.system, command, { text = true, timeout = 15000 })
  if not ok then
    return nil, tostring(process)
  end
  return process:wait()
end

local function neovim()
  vim.health.start("Neovim")
  if vim.fn.has("nvim-0.10") == 1 then
    vim.health.ok("Neovim " .. tostring(vim.version()))
  else
    vim.health.error("Neovim 0.10 or newer is needed", { "This is " .. tostring(vim.version()) })
  end
  local problems = config.problems(type(vim.g.drawbridge) == "table" and vim.g.drawbridge or {})
  for _, problem in ipairs(problems) do
    vim.health.warn("vim.g.drawbridge: " .. problem)
  end
end

--- The findings of `drawbridge doctor --json`, in its own words.
local function doctor(program)
  local result, err = run({ program, "doctor", "--json" })
  if not result or result.code == 2 or vim.trim(result.stdout or "") == "" then
    vim.health.info("this drawbridge has no doctor" .. (err and ": " .. err or ""))
    return
  end
  local ok, report = pcall(vim.json.decode, result.stdout, { luanil = { object = true, array = true } })
  if not ok or type(report) ~= "table" then
    return vim.health.warn("`drawbridge doctor --json` did not print JSON")
  end
  local tell = { ok = vim.health.ok, info = vim.health.info, warning = vim.health.warn, error = vim.health.error }
  for _, finding in ipairs(report.findings or {}) do
    local level = tell[finding.level] or vim.health.info
    level(("%s: %s"):format(finding.subject or "doctor", finding.message or ""), finding.remedy and { finding.remedy } or nil)
  end
  if #(report.findings or {}) == 0 then
    vim.health.ok((report.claude_code or {}).message or "doctor has found nothing wrong")
  end
end

local function bridge()
  vim.health.start("The bridge")
  local found = binary.find()
  if not found.command then
    local message, remedy = binary.missing(found)
    return vim.health.error(message, { remedy })
  end
  local program = found.command[1]
  local result, err = run({ program, "--version" })
  if not result or result.code ~= 0 then
    return vim.health.error(program .. " does not run", { err or vim.trim(result and result.stderr or "") })
  end
  local version = result.stdout:match("%d+%.%d+%.%d+%S*") or vim.trim(result.stdout)
  if binary.older(version, binary.oldest) then
    vim.health.error(("%s is drawbridge %s; this plugin needs %s"):format(program, version, binary.oldest), { "Update drawbridge." })
  else
    vim.health.ok(("%s: drawbridge %s (plugin %s)"):format(program, version, binary.plugin_version))
  end
  doctor(program)
end

local function live()
  vim.health.start("This editor")
  vim.health.info("bridge: " .. client.state)
  if client.failure and not client.failure.expected then
    vim.health.warn(client.failure.message, client.failure.remedy and { client.failure.remedy } or nil)
  end
  if client.hello then
    local claude = client.hello.claude_code
    for _, session in pairs(require("drawbridge.session").by_id) do
      claude = session.info.claude_code or claude
      vim.health.info(("conversation in %s: %s, %d messages wait"):format(session.cwd, session.status.state, #session:queued()))
    end
    if claude.level == "missing" or claude.level == "incompatible" then
      vim.health.error(claude.message, claude.remedy and { claude.remedy } or nil)
    else
      vim.health.ok(claude.message)
    end
    if not client.hello.capabilities.sessions then
      vim.health.info("this bridge keeps no conversations: there is nothing to resume")
    end
  end
  vim.health.info(("open questions: %d"):format(#require("drawbridge.prompt").open))
end

function M.check()
  neovim()
  bridge()
  live()
end

return M
