#include "cli/score/model_family.h"

#include <fmt/format.h>

#include "import/open_model.h"
#include "infer/gap_filler.h"
#include "model/family.h"
#include "support/usage_error.h"

namespace headscope {

void require_files_of_family(const std::string& model, const std::string& text, bool spans) {
    const ModelDirectory opened = open_model(model);
    const Architecture family = opened.config.architecture;
    if (!traits(family).writes_pieces) {
        throw UsageError(fmt::format("{} is a {}, which writes no text: use headscope classify, or evaluate --labelled",
                                     model, traits(family).name));
    }
    const bool translates = traits(family).reads_source;
    if (translates != text.empty() && !(spans && fills_gaps(opened))) {
        throw UsageError(fmt::format("{} is a {}: give {}", model, name_of(family),
                                     translates ? "sentences and their translations, not --text" : "--text FILE"));
    }
}

bool first_is_given(const ModelConfig& model) {
    return traits(model.architecture).continues_text && model.frame.bos_id < 0;
}

std::string first_given_note(const std::string& text) {
    return fmt::format("the model's texts have no start, so that the first piece of each {} is given, not predicted",
                       text);
}

}  // namespace headscope
