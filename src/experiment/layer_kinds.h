// The kinds of layers that the paper's Table 1 compares, as changes of a model's configuration.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/config.h"

namespace headscope {

struct LayerKind {
    const char* name;        // "lstm"
    const char* title;       // "Recurrent (LSTM)"
    nlohmann::json encoder;  // keys of the model's configuration, for a stack in which positions see both sides
    nlohmann::json decoder;  // and for one in which they see only those before them
    // Table 1, as text; n positions, d columns, kernel k, neighbourhood r.
    const char* complexity;
    const char* sequential;
    const char* path;
    bool whole_kernel = false;  // the kernel is as long as the text
};

// The keys for texts of `length` positions. A kernel that sees both sides is odd: k = n + 1 where n is even.
nlohmann::json encoder_keys(const LayerKind& kind, std::int64_t length);
nlohmann::json decoder_keys(const LayerKind& kind, std::int64_t length);

const std::vector<LayerKind>& layer_kinds();
// Those of these names, or all if there are none. Error, listing them, for an unknown one.
std::vector<const LayerKind*> chosen_layer_kinds(const std::vector<std::string>& names);

// `base` with the kind's layers and as many parameters, within d_model, by choosing d_ff. Error if the layers alone
// have more parameters than `base`.
ModelConfig with_layers(const nlohmann::json& base, const nlohmann::json& layers);

}  // namespace headscope
