#include "cli/translate/unknown_note.h"

#include <fmt/format.h>

namespace headscope {

std::string unknown_note(std::int64_t unknown, std::int64_t all, std::string_view texts, std::string_view outcome) {
    return fmt::format(
        "{} of {} {} contain characters missing from the vocabulary (emoji or another script, perhaps): {}", unknown,
        all, texts, outcome);
}

}  // namespace headscope
