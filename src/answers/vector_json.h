// Vectors of texts as JSON: a line of --json, an element of what the C library gives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "explore/text_vectors.h"

namespace headscope {

// A text as line `line` of its input. `keys` has what is said of each of its vectors, beside the word or piece that it
// stands for; that of a line stands beside the text.
nlohmann::ordered_json vectors_json(VectorUnit unit, std::int64_t line, const std::string& text,
                                    const TextVectors& vectors,
                                    const std::function<nlohmann::ordered_json(std::size_t)>& keys);

// The key "vector" of a text's vector: its numbers.
nlohmann::ordered_json numbers_json(const TextVectors& vectors, std::size_t index);

}  // namespace headscope
