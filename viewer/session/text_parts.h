// A text to translate that is longer than the model translates well: `headscope translate` splits it into sentences,
// and the window shows one of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "infer/loaded_model.h"

namespace headscope::viewer {

struct PartsOfText {
    std::vector<std::string> sentences = {};  // at least one: the whole text if it was not split
    std::int64_t pieces = 0;                  // of the whole text, with its end
    std::int64_t wanted = 0;                  // more are split
    bool operator==(const PartsOfText&) const = default;
};

class TextParts {
public:
    // Keeps the parts of the translator that do not depend on its device.
    explicit TextParts(const LoadedModel& translator);

    // Empty languages are the default ones. A text that cannot be translated is one sentence. The last result is kept
    // for the next call: only one thread may call.
    const PartsOfText& of(const std::string& text, const std::string& source_language,
                          const std::string& target_language) const;

private:
    PartsOfText split(const std::string& text, const Languages& languages) const;

    ModelDirectory model_;  // without weights
    DecodingOptions options_;
    std::int64_t longest_;
    struct Last {
        std::string text;
        Languages languages;
        PartsOfText parts;
    };
    mutable std::optional<Last> last_;
};

}  // namespace headscope::viewer
