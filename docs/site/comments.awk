# Makes reference text of a header's plain comments, for Doxygen: /// instead of //, without its commands.
function plain(text) { gsub(/[\\@<>#&]/, "\\\\&", text); return text }
/^ *\/\/( |$)/ {
    match($0, /\/\/ ?/)
    print substr($0, 1, RSTART - 1) "/// " plain(substr($0, RSTART + RLENGTH))
    next
}
match($0, /[;,}] +\/\/ /) {
    print substr($0, 1, RSTART) " ///< " plain(substr($0, RSTART + RLENGTH))
    next
}
{ print }
