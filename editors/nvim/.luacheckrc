std = "luajit"
globals = { "vim" }
max_line_length = 150
max_string_line_length = false
files["test"] = { globals = { "it", "eq", "has", "lacks", "screen" }, ignore = { "122" } }
