#include "model/family.h"

#include <algorithm>

#include "support/check.h"

namespace headscope {

namespace {

constexpr KindTraits kTranslationKinds[] = {
    {AttentionKind::EncoderSelf, "Encoder", "the source looks at itself", "Input-Input"},
    {AttentionKind::DecoderSelf, "Decoder", "the translation looks at itself", "Output-Output"},
    {AttentionKind::Cross, "Cross", "the translation looks at the source", "Output-Input"}};
constexpr KindTraits kCausalKinds[] = {
    {AttentionKind::DecoderSelf, "Self-attention", "each token looks at those before it", "Self-Attention"}};
constexpr KindTraits kMaskedKinds[] = {
    {AttentionKind::EncoderSelf, "Self-attention", "the text looks at itself", "Self-Attention"}};

constexpr KindTraits kPictureKinds[] = {
    {AttentionKind::EncoderSelf, "Self-attention", "the picture looks at itself", "Self-Attention"}};

constexpr FamilyTraits kFamilies[] = {{.architecture = Architecture::EncoderDecoder,
                                       .key = "encoder-decoder",
                                       .name = "translation model",
                                       .command = "translate",
                                       .verb = "translate",
                                       .reads_source = true,
                                       .continues_text = false,
                                       .fills_masks = false,
                                       .writes_pieces = true,
                                       .given = "Source",
                                       .predicted = "Target",
                                       .given_in = "source sentence",
                                       .predicted_in = "translation",
                                       .given_key = "source",
                                       .predicted_key = "translation",
                                       .likelihood = "log P",
                                       .likelihood_key = "log_probability",
                                       .kinds = kTranslationKinds},
                                      {.architecture = Architecture::CausalLm,
                                       .key = "causal-lm",
                                       .name = "causal language model",
                                       .command = "complete",
                                       .verb = "complete",
                                       .reads_source = false,
                                       .continues_text = true,
                                       .fills_masks = false,
                                       .writes_pieces = true,
                                       .given = "Prompt",
                                       .predicted = "Continuation",
                                       .given_in = "prompt",
                                       .predicted_in = "continuation",
                                       .given_key = "prompt",
                                       .predicted_key = "completion",
                                       .likelihood = "log P",
                                       .likelihood_key = "log_probability",
                                       .kinds = kCausalKinds},
                                      {.architecture = Architecture::MaskedLm,
                                       .key = "masked-lm",
                                       .name = "masked language model",
                                       .command = "fill",
                                       .verb = "fill in",
                                       .reads_source = false,
                                       .continues_text = false,
                                       .fills_masks = true,
                                       .writes_pieces = true,
                                       .given = "Text",
                                       .predicted = "Fills",
                                       .given_in = "text",
                                       .predicted_in = "filled-in text",
                                       .given_key = "text",
                                       .predicted_key = "filled",
                                       .likelihood = "pseudo-log-likelihood",
                                       .likelihood_key = "pseudo_log_likelihood",
                                       .kinds = kMaskedKinds},
                                      {.architecture = Architecture::Encoder,
                                       .key = "encoder",
                                       .name = "picture classifier",
                                       .command = "classify",
                                       .verb = "classify",
                                       .reads_source = true,
                                       .continues_text = false,
                                       .fills_masks = false,
                                       .writes_pieces = false,
                                       .given = "Picture",
                                       .predicted = "Class",
                                       .given_in = "picture",
                                       .predicted_in = "class",
                                       .given_key = "picture",
                                       .predicted_key = "class",
                                       .likelihood = "log P",
                                       .likelihood_key = "log_probability",
                                       .kinds = kPictureKinds}};

}  // namespace

std::span<const FamilyTraits> families() {
    return kFamilies;
}

const FamilyTraits& traits(Architecture architecture) {
    const auto* const found = std::find_if(std::begin(kFamilies), std::end(kFamilies), [&](const FamilyTraits& family) {
        return family.architecture == architecture;
    });
    HEADSCOPE_CHECK(found != std::end(kFamilies), "every family has a row");
    return *found;
}

}  // namespace headscope
