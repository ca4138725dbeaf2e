// Texts that is_empty_text() accepts.
#pragma once

#include <string>
#include <vector>

namespace headscope {

// Without TABs and line ends, so that they can be lines of a file.
inline std::vector<std::string> empty_texts() {
    return {"",
            " ",
            "\v\f\r",
            "\u00a0",
            "\u0085",
            "\u00ad",
            "\u034f",
            "\u061c",
            "\u115f\u1160",
            "\u180e",
            "\u2003",
            "\u200b",
            "\u200d",
            "\u2028",
            "\u2029",
            "\u202f",
            "\u2060",
            "\u3000",
            "\u3164",
            "\uffa0",
            "\ufeff",
            "\ufe0f",
            "\ufffd",
            "\u2581",
            "\x1b",
            "\U000e0020",
            "\U0001d173",
            " \u200b\u3000\ufeff\u2028 "};
}

}  // namespace headscope
