// Tokens that a Hugging Face folder declares beside its vocabulary.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "text/added_token.h"

namespace headscope {

struct DeclaredToken {
    AddedToken token;
    std::int32_t id = -1;    // -1: the next free one
    bool has_rules = false;  // rather than those of a special token
};

// Those of tokenizer_config.json (`settings`: "added_tokens_decoder", "additional_special_tokens", "mask_token" and the
// like), special_tokens_map.json and added_tokens.json, with the rules and in the order of transformers.
std::vector<DeclaredToken> declared_tokens(const std::string& folder, const nlohmann::json& settings);

// The text of the token that has a role such as "mask_token"; empty if none is declared.
std::string declared_role(const std::string& folder, const nlohmann::json& settings, const std::string& role);

// Adds them to the "added_tokens" of a tokenizer.json whose model has `rows` rows. Returns whether anything changed.
// Those for which there is no row are left out, and returned in `left_out`.
bool add_declared(nlohmann::json& tokenizer, const std::vector<DeclaredToken>& declared, std::int64_t rows,
                  std::vector<std::string>& left_out);

}  // namespace headscope
