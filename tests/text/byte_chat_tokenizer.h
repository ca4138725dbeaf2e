// A tokenizer with the markers of a chat template.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "text/byte_pieces.h"
#include "text/tokenizer.h"

namespace headscope {

// Byte-level BPE with the bytes as pieces, one merge of two line breaks, and these added tokens.
inline std::shared_ptr<const Tokenizer> byte_chat_tokenizer(const std::vector<std::string>& special,
                                                            const std::vector<std::string>& others = {}) {
    nlohmann::json file = {{"added_tokens", nlohmann::json::array()},
                           {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
                           {"decoder", {{"type", "ByteLevel"}}},
                           {"model", {{"type", "BPE"}, {"merges", {"\u010a \u010a"}}}}};
    int id = 0;
    for (int byte = 0; byte < 256; ++byte) {
        file["model"]["vocab"][character_of_byte(static_cast<unsigned char>(byte))] = id++;
    }
    file["model"]["vocab"]["\u010a\u010a"] = id++;
    for (const auto& [list, is_special] : {std::pair(special, true), std::pair(others, false)}) {
        for (const std::string& text : list) {
            file["added_tokens"].push_back({{"id", id++}, {"content", text}, {"special", is_special}});
        }
    }
    return std::make_shared<const Tokenizer>(Tokenizer::from_bytes(file.dump(), "tokenizer.json"));
}

}  // namespace headscope
