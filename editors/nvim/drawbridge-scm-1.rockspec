rockspec_format = "3.0"
package = "drawbridge"
version = "scm-1"
source = { url = "." } -- for `luarocks make` in this folder
description = {
  summary = "Claude in Neovim, through the drawbridge bridge",
  license = "Apache-2.0",
  labels = { "neovim" },
}
dependencies = { "lua == 5.1" }
build = {
  type = "builtin",
  copy_directories = { "doc", "plugin" },
}
