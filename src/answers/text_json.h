// Translations and completions as JSON: a line of --json, an element of what the C library gives.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "engine/translation_stream.h"
#include "observe/alignment.h"
#include "text/tokenizer.h"

namespace headscope {

// `n_best`: with the list of all translations. alignments[i]: of translation i; empty without alignments.
nlohmann::ordered_json translation_json(const Tokenizer& target, const StreamedLine& line, bool n_best,
                                        const std::vector<Alignment>& alignments);
// Of a prompt; `n_best` as above.
nlohmann::ordered_json completion_json(const Tokenizer& tokenizer, std::int64_t number, const std::string& prompt,
                                       const TextResult& found, bool n_best);

}  // namespace headscope
