--- The colours: links to common groups, which a colour scheme may override.
local M = {}

local links = {
  DrawbridgeUser = "Title",
  DrawbridgeTool = "Function",
  DrawbridgeOutput = "Comment",
  DrawbridgeThinking = "Comment",
  DrawbridgeHint = "NonText",
  DrawbridgeOk = "DiagnosticOk",
  DrawbridgeError = "DiagnosticError",
  DrawbridgeErrorText = "DiagnosticError",
  DrawbridgeWarning = "DiagnosticWarn",
  DrawbridgeNotice = "DiagnosticInfo",
  DrawbridgeRunning = "DiagnosticInfo",
  DrawbridgeWaiting = "DiagnosticWarn",
  DrawbridgeAdded = "DiffAdd",
  DrawbridgeRemoved = "DiffDelete",
  DrawbridgePrompt = "Normal",
  DrawbridgePromptBorder = "DiagnosticWarn",
  DrawbridgePromptKey = "Special",
  DrawbridgeRiskHigh = "DiagnosticError",
  DrawbridgeRiskMedium = "DiagnosticWarn",
  DrawbridgeRiskLow = "DiagnosticOk",
  DrawbridgeTodoDone = "Comment",
  DrawbridgeTodoNow = "Title",
  DrawbridgeTodo = "Normal",
  DrawbridgeInlay = "DiffAdd",
  DrawbridgeHeading = "Title",
  DrawbridgeCode = "String",
  DrawbridgeFence = "NonText",
  DrawbridgeBullet = "Special",
}

function M.define()
  vim.api.nvim_set_hl(0, "DrawbridgeBold", { bold = true, default = true })
  for name, target in pairs(links) do
    vim.api.nvim_set_hl(0, name, { link = target, default = true })
  end
end

function M.setup()
  M.define()
  vim.api.nvim_create_autocmd("ColorScheme", {
    group = vim.api.nvim_create_augroup("drawbridge_highlight", {}),
    callback = M.define,
  })
end

return M
