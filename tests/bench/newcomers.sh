#!/usr/bin/env bash
# How long five newcomers wait for the first thing that they came for: each opens the window and does what the README
# says. Prints the seconds from the command to that picture and the program's CPU time, and keeps the pictures.
# usage: newcomers.sh HEADSCOPE-PROGRAM FOLDER
set -euo pipefail
headscope=$(realpath "$1")
mkdir -p "$2"
cd "$2"

# NAME ARGUMENT...: plays the script that it reads.
newcomer() {
    local name=$1 TIMEFORMAT
    shift
    { echo wait; cat; echo "shot $name.png"; } >"$name.script"
    TIMEFORMAT="$(printf '%-12s' "$name")%1R s, %1U s of CPU time"
    time "$headscope" view "$@" --script "$name.script"
}

# A student sees which head links a pronoun to its noun.
newcomer student --device cpu <<'END'
expect figure.caption ~ head 8: “it” looks at “cat”
END

# A translator types a sentence and asks what else a word could have been.
newcomer translator --device cpu <<'END'
click source
key Ctrl+A
type The weather is nice today.
wait
expect translation ~ Wetter
command panel.time
frames 3
END

# A researcher opens a masked model and follows a prediction through its layers.
newcomer researcher en-masked --device cpu <<'END'
key Ctrl+G
wait
expect lens.title ~ after each layer
END

# The author of a driver compares the device with the CPU.
newcomer driver --device "${HEADSCOPE_DEVICE:-vulkan}" <<'END'
command panel.compare
click compare.device
frames 2
click compare.device.cpu
click compare.start
wait
expect compare.description ~ Left minus right
END

# A C++ developer looks up a layer's shapes, and takes the weights as JSON.
newcomer developer --device cpu <<'END'
command panel.model
key B
wait
command panel.figure
key Ctrl+E
frames 2
key Ctrl+A
type developer.json
key Enter
frames 2
expect status ~ developer.json
END
