--- Getting the attention of somebody who is not looking.
local config = require("drawbridge.config")

local M = { focused = true }

vim.api.nvim_create_autocmd({ "FocusGained", "FocusLost" }, {
  group = vim.api.nvim_create_augroup("drawbridge_attention", {}),
  callback = function(event)
    M.focused = event.event == "FocusGained"
  end,
})

---@param message string
function M.wanted(message)
  if M.focused then
    return
  end
  local options = config.get()
  if options.bell then
    io.stdout:write("\7")
  end
  if options.notify then
    local command = vim.list_extend(vim.deepcopy(options.notify), { message })
    local ok, err = pcall(vim.system, command)
    if not ok then
      vim.notify_once("drawbridge: the option notify: " .. tostring(err), vim.log.levels.WARN)
    end
  end
end

return M
