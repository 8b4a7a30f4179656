-- Loaded with the editor: defines the command and the <Plug> maps, and nothing that needs the rest of the plugin.
if vim.g.loaded_drawbridge then
  return
end
vim.g.loaded_drawbridge = true

if vim.fn.has("nvim-0.10") == 0 then
  vim.notify("drawbridge needs Neovim 0.10 or newer", vim.log.levels.ERROR)
  return
end

vim.api.nvim_create_user_command("Drawbridge", function(command)
  require("drawbridge.command").run(command)
end, {
  nargs = "*",
  range = true,
  desc = "Claude in the editor: see :help :Drawbridge",
  complete = function(...)
    return require("drawbridge.command").complete(...)
  end,
})

--- Maps are for the user to choose: only <Plug> names are defined.
local function plug(name, modes, subcommand, desc)
  vim.keymap.set(modes, "<Plug>(drawbridge-" .. name .. ")", "<Cmd>Drawbridge " .. subcommand .. "<CR>", { desc = desc })
end

plug("toggle", "n", "toggle", "Show or hide the conversation")
plug("focus", "n", "open", "Go to the prompt area of the conversation")
plug("next-prompt", "n", "prompt", "Go to the next question of Claude")
plug("previous-prompt", "n", "prompt previous", "Go to the previous question of Claude")
plug("interrupt", "n", "interrupt", "Interrupt Claude")
plug("diff", "n", "diff", "Open the diff of the proposed edit")
vim.keymap.set("x", "<Plug>(drawbridge-add)", ":Drawbridge add selection<CR>", { silent = true, desc = "Attach the selection" })
vim.keymap.set("n", "<Plug>(drawbridge-add)", "<Cmd>Drawbridge add file<CR>", { desc = "Attach the file" })
