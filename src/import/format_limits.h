// What a format can hold of a model. A writer lists the keys that it writes; any other row of the table of keys must
// have the value that it has when it is absent, so a new key is refused by all formats.
#pragma once

#include <initializer_list>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "import/problems.h"
#include "model/model_directory.h"

namespace headscope {

class FormatLimits {
public:
    // The configuration and the problems outlive this. Every format holds sizes and the ids of special pieces, and
    // needs heads that divide d_model.
    FormatLimits(const ModelConfig& config, Problems& problems);
    // The format has a place for these keys, or its writer adds what stands for them, whatever their values are.
    void hold(std::initializer_list<const char*> keys);
    // A problem unless the value of a key is one of these.
    void require(const std::string& key, const std::vector<nlohmann::json>& accepted);
    // A problem for every key that is not held and does not have the value of an absent one.
    void finish();

private:
    void check(const std::string& key, const nlohmann::json& value, const std::vector<nlohmann::json>& accepted);

    const ModelConfig& config_;
    std::set<std::string> held_;
    Problems& problems_;
};

// What stands around a source: its end, perhaps after the token of the target's language.
void require_source_frame(const ModelDirectory& model, FormatLimits& limits, bool may_lack_end);
// A problem unless both tokenizers have SentencePiece models.
void require_sentencepiece(const ModelDirectory& model, Problems& problems);

}  // namespace headscope
