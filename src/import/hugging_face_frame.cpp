// What Hugging Face's folders put before the texts of causal models.
#include <nlohmann/json.hpp>

#include "import/declared_tokens.h"
#include "import/hugging_face.h"
#include "io/strict_json.h"

namespace headscope {

namespace {

using nlohmann::json;

// The piece that a post-processor of tokenizer.json puts before a text; -1: none.
std::int32_t first_of_template(const json& processor) {
    if (!processor.is_object()) {
        return -1;
    }
    for (const json& one : processor.value("processors", json::array())) {  // of a "Sequence"
        if (const std::int32_t id = first_of_template(one); id >= 0) {
            return id;
        }
    }
    const json single = processor.value("single", json::array());
    if (single.empty() || !single.front().contains("SpecialToken")) {
        return -1;
    }
    const std::vector<std::int32_t> ids =
        ids_of(processor.at("special_tokens").at(single.front()["SpecialToken"].at("id").get<std::string>()).at("ids"));
    return ids.empty() ? -1 : ids.front();
}

// The id of the piece that has the role of a beginning, whether or not texts have it.
std::int32_t own_beginning(const ForeignConfig& config, std::int32_t usual, const json& settings,
                           const ModelDirectory& model) {
    if (const auto id = model.target_tokenizer->vocabulary().find(declared_role(model.path, settings, "bos_token"))) {
        return *id;
    }
    constexpr const char* kKey = "bos_token_id";
    const std::int64_t id = config.is_null(kKey) ? -1 : config.integer(kKey, usual);
    if (id < 0) {
        config.problem(kKey, "is null or missing, but \"add_bos_token\" of tokenizer_config.json is true");
    }
    return static_cast<std::int32_t>(id);
}

}  // namespace

std::int32_t begin_id(const ForeignConfig& config, std::int32_t usual, Problems& problems,
                      const ModelDirectory& model) {
    constexpr const char* kKey = "add_bos_token";
    const json settings = tokenizer_settings(model.path);
    const ForeignConfig file(settings, "tokenizer_config.json", problems);
    if (file.has(kKey)) {
        return file.boolean(kKey, false) ? own_beginning(config, usual, settings, model) : -1;
    }
    const std::string fast = file_in(model.path, "tokenizer.json");
    return fast.empty() ? -1 : first_of_template(read_json_file(fast).value("post_processor", json()));
}

}  // namespace headscope
