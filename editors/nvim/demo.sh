#!/usr/bin/env bash
# Opens Neovim with the plugin and the scripted agent: no account, no network, and no file of yours is touched.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
drawbridge=${DRAWBRIDGE:-$here/../../bin/drawbridge}
drawbridge=$(cd "$(dirname "$drawbridge")" && pwd)/$(basename "$drawbridge")

# An editor on $PATH, or one that the tests have installed.
nvim=${NVIM:-}
for candidate in "$(command -v nvim || true)" "$here"/../../.cache/nvim-*/bin/nvim; do
	[ -z "$nvim" ] && [ -x "$candidate" ] && nvim=$candidate
done
if [ -z "$nvim" ]; then
	echo "Neovim 0.10 or newer is not on \$PATH. Install it, or run .ci/nvim .cache once, which fetches one for the tests." >&2
	exit 1
fi

play=$(mktemp -d)
trap 'rm -rf "$play"' EXIT
printf '[lamp]\ncolor = "white"\nperiod = "10s"\nbulb = 40\n' >"$play/lamp.toml"
cat >"$play/init.lua" <<EOF
vim.opt.runtimepath:prepend("$here")
vim.g.drawbridge = {
  command = { "$drawbridge" },
  serve_args = { "--claude", vim.json.encode({ "$drawbridge", "__agent", "demo" }), "--settings", "$play/settings.json" },
}
vim.api.nvim_create_autocmd("VimEnter", {
  callback = function()
    require("drawbridge").open()
    vim.api.nvim_set_current_line("bash")
    vim.schedule(function()
      print("<CR> sends the word; ]p goes to the question, a allows, d denies; other words: edit, question, plan, tour")
    end)
  end,
})
EOF
export XDG_STATE_HOME=$play/state XDG_DATA_HOME=$play/data XDG_CACHE_HOME=$play/cache
cd "$play"
"$nvim" --clean -n -u "$play/init.lua" -o lamp.toml
