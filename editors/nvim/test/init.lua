-- The configuration of an editor under test. Set by the environment: DRAWBRIDGE (the program), SCRIPT (of the scripted agent).
vim.opt.runtimepath:prepend(vim.fs.dirname(vim.fs.dirname(debug.getinfo(1, "S").source:sub(2))))
vim.o.shortmess = vim.o.shortmess .. "I"
vim.o.ruler = false
vim.o.showcmd = false
vim.o.statusline = " %f" -- the default one differs between versions
vim.o.more = false
local bridge = vim.env.DRAWBRIDGE
local claude = vim.env.CLAUDE_COMMAND or vim.json.encode({ bridge, "__agent", vim.env.SCRIPT or "demo" })
vim.g.drawbridge = vim.tbl_extend("force", {
  command = { bridge },
  serve_args = { "--claude", claude, "--settings", vim.env.XDG_CONFIG_HOME .. "/drawbridge/settings.json" },
}, vim.env.OPTIONS and vim.json.decode(vim.env.OPTIONS) or {})

-- The built-in choice and input block the editor, and with it the test: a test answers them by calls. The screens use the real ones.
if vim.env.UI ~= "real" then
  vim.ui.select = function(items, opts, on_choice)
    _G.ui = {
      prompt = opts.prompt,
      choose = function(n)
        on_choice(items[n], items[n] and n)
      end,
    }
  end
  vim.ui.input = function(opts, on_confirm)
    _G.ui = { prompt = opts.prompt, enter = on_confirm }
  end
end
