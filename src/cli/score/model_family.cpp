#include "cli/score/model_family.h"

#include <fmt/format.h>

#include "import/open_model.h"
#include "support/check.h"

namespace headscope {

void require_files_of_family(const std::string& model, const std::string& text) {
    const Architecture family = open_model(model).config.architecture;
    const bool translates = family == Architecture::EncoderDecoder;
    if (translates != text.empty()) {
        throw Error(fmt::format("{} is a {}: give {}", model, name_of(family),
                                translates ? "sentences and their translations, not --text" : "--text FILE"));
    }
}

}  // namespace headscope
