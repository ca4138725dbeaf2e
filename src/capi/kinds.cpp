#include "capi/kinds.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "capi/ask_about.h"
#include "capi/ask_for_text.h"
#include "capi/ask_for_tokens.h"
#include "capi/ask_for_vectors.h"
#include "explore/checked_request.h"
#include "infer/gap_filler.h"
#include "model/family.h"

namespace headscope {

namespace {

const FamilyTraits& family_of(const ModelDirectory& model) {
    return traits(model.config.architecture);
}

bool any(const ModelDirectory& /*model*/) {
    return true;
}
bool translates(const ModelDirectory& model) {
    return family_of(model).reads_source && family_of(model).writes_pieces;
}
bool completes(const ModelDirectory& model) {
    return family_of(model).continues_text;
}
bool fills(const ModelDirectory& model) {
    return family_of(model).fills_masks || fills_gaps(model);
}

constexpr std::array kKinds{
    KindRow{HS_TRANSLATE, "HS_TRANSLATE", translates, "translation models", false, ask_to_translate},
    KindRow{HS_COMPLETE, "HS_COMPLETE", completes, "causal language models", false, ask_to_complete},
    KindRow{HS_FILL, "HS_FILL", fills, "masked language models and span models", false, ask_to_fill},
    KindRow{HS_SCORE, "HS_SCORE", any, "", true, ask_for_scores},
    KindRow{HS_TOKENIZE, "HS_TOKENIZE", any, "", false, ask_for_pieces},
    KindRow{HS_DETOKENIZE, "HS_DETOKENIZE", any, "", false, ask_to_join},
    KindRow{HS_ATTEND, "HS_ATTEND", any, "", true, ask_for_attention},
    KindRow{HS_RUN, "HS_RUN", any, "", true, ask_to_run},
    KindRow{HS_IMPORTANCE, "HS_IMPORTANCE", any, "", true, ask_for_importance},
    KindRow{HS_SALIENCY, "HS_SALIENCY", any, "", true, ask_for_saliency},
    KindRow{HS_EMBED, "HS_EMBED", any, "", false, ask_for_vectors},
};

}  // namespace

void require_room(const Submission& submission) {
    if (submission.inputs.size() > submission.most) {
        throw Failure(HS_INVALID,
                      fmt::format("{} inputs are more than the engine takes at a time ({}): submit fewer, or "
                                  "open it with more \"max_requests\"",
                                  submission.inputs.size(), submission.most));
    }
}

std::vector<AttentionEdit> edits_of(const Submission& submission) {
    std::vector<AttentionEdit> edits = submission.options.edits();
    try {
        check_edits(submission.model->directory().config, edits);
    } catch (const Error& error) {
        throw Failure(HS_INVALID, std::string("option: \"edits\": ") + error.what());
    }
    return edits;
}

const KindRow& kind_row(int kind) {
    const auto* const found = std::ranges::find(kKinds, kind, &KindRow::kind);
    if (found == kKinds.end()) {
        throw Failure(HS_INVALID, fmt::format("there is no kind {} of requests: use HS_TRANSLATE and so on", kind));
    }
    return *found;
}

}  // namespace headscope
