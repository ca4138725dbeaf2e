// Translations and completions as JSON: a line of --json, an element of what the C library gives.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "answers/confidence.h"
#include "engine/translation_stream.h"
#include "observe/alignment.h"
#include "text/tokenizer.h"

namespace headscope {

// `n_best`: with the list of all translations. alignments[i]: of translation i; empty without alignments. `unsure`:
// what becomes of those of little confidence.
nlohmann::ordered_json translation_json(const Tokenizer& target, const StreamedLine& line, bool n_best,
                                        const std::vector<Alignment>& alignments, const UnsureRule& unsure = {});
// Of a prompt; `n_best` and `unsure` as above.
nlohmann::ordered_json completion_json(const Tokenizer& tokenizer, std::int64_t number, const std::string& prompt,
                                       const TextResult& found, bool n_best, const UnsureRule& unsure = {});

}  // namespace headscope
