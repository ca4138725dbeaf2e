// The warning about text that the model's vocabulary cannot encode.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headscope {

// "2 of 5 lines contain characters missing from the vocabulary (emoji or another script, perhaps): <outcome>"
std::string unknown_note(std::int64_t unknown, std::int64_t all, std::string_view texts, std::string_view outcome);

}  // namespace headscope
