// The options of Marian's models that nothing reads: those that change nothing, and those whose usual value is the only
// one that is supported.
#include <array>

#include <nlohmann/json.hpp>

#include "import/formats.h"

namespace headscope {

namespace {

constexpr auto kModelKeys = std::to_array<KeyRule>({
    // Of recurrent models and of parts that are refused if they are there.
    {"dim-rnn"},
    {"enc-type"},
    {"enc-cell*"},
    {"dec-cell*"},
    {"best-deep"},
    {"skip"},
    {"char-*"},
    {"ulr-*"},
    {"transformer-rnn-projection"},
    {"transformer-dim-aan"},
    {"transformer-aan-*"},
    {"transformer-alibi-*"},
    {"separator-symbol"},
    // Of encoders that judge translations or fill in words.
    {"bert-*"},
    {"comet-*"},
    {"transformer-no-bias"},
    {"transformer-no-affine"},
    // Of training.
    {"max-length"},
    {"transformer-depth-scaling"},
    {"transformer-guided-alignment-layer"},
    {"transformer-dropout*"},
    {"dropout-*"},
    {"version"},
    // The tensor Wpos says it.
    {"transformer-train-positions"},
    {"transformer-train-position-embeddings"},
    // Of factored vocabularies.
    {"factors-combine"},
    {"lemma-dependency", R"("")"},
    {"special-vocab", "[]"},
    // Of inputs.
    {"input-reorder", "[]"},
    {"input-join-fields", "false"},
});

}  // namespace

void check_marian_keys(const ForeignConfig& config, const std::string& file, std::vector<std::string>& remarks) {
    remark_unknown_keys(file, config.unknown_keys(kModelKeys), remarks);
}

}  // namespace headscope
