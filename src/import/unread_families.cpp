#include "import/unread_families.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace headscope {

namespace {

struct Reason {
    const char* name;  // of the family, or of a key
    const char* text;
};

constexpr std::array kFamilies = std::to_array<Reason>({
    {"albert", "layers that share their parameters"},
    {"big_bird", "sparse attention in blocks"},
    {"bigbird_pegasus", "sparse attention in blocks"},
    {"bloom", "ALiBi"},
    {"canine", "downsampled characters"},
    {"clip", "pictures beside texts"},
    {"codegen", "queries, keys and values packed in four parts"},
    {"deberta", "attention that keeps content and position apart"},
    {"deberta-v2", "attention that keeps content and position apart"},
    {"deit", "a token of distillation beside that of the class"},
    {"dinov2", "scales of layers"},
    {"electra", "embeddings narrower than the layers"},
    {"encoder-decoder", "two models of different families in one"},
    {"fnet", "Fourier transforms in place of attention"},
    {"funnel", "layers that shorten the text"},
    {"gpt_neo", "its own names of tensors"},
    {"led", "attention with global tokens"},
    {"longformer", "attention with global tokens"},
    {"longt5", "attention in blocks"},
    {"mamba", "state spaces in place of attention"},
    {"modernbert", "a first layer without its norm"},
    {"mpnet", "relative positions in BERT"},
    {"mpt", "ALiBi"},
    {"nllb-moe", "layers with experts beside others without"},
    {"reformer", "attention by hashing"},
    {"rembert", "embeddings narrower than the layers"},
    {"roformer", "rotary positions in BERT"},
    {"swin", "windows of patches that are merged"},
    {"switch_transformers", "layers with experts beside others without"},
    {"whisper", "speech as input"},
    {"xlnet", "attention in permuted orders"},
});

constexpr std::array kReasons = std::to_array<Reason>({
    {"alibi", "ALiBi"},
    {"num_experts", "a mixture of experts"},
    {"num_local_experts", "a mixture of experts"},
    {"vision_config", "pictures beside texts"},
    {"image_size", "pictures in another form than ViT's"},
    {"audio_config", "speech as input"},
    {"num_mel_bins", "speech as input"},
});

bool is_set(const nlohmann::json& config, const char* key) {
    const auto found = config.find(key);
    return found != config.end() && !found->is_null() && *found != false && *found != 0;
}

}  // namespace

std::string why_unread(const std::string& model_type, const nlohmann::json& config) {
    std::vector<std::string> reasons;
    const auto add = [&](const char* reason) {
        if (std::find(reasons.begin(), reasons.end(), reason) == reasons.end()) {
            reasons.emplace_back(reason);
        }
    };
    for (const Reason& family : kFamilies) {
        if (model_type == family.name) {
            add(family.text);
        }
    }
    for (const Reason& key : kReasons) {
        if (is_set(config, key.name)) {
            add(key.text);
        }
    }
    return fmt::format("{}", fmt::join(reasons, ", "));
}

}  // namespace headscope
