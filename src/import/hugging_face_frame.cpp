// What Hugging Face's folders put before the texts of causal models.
#include <algorithm>

#include <nlohmann/json.hpp>

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

}  // namespace

std::int32_t begin_id(const std::string& folder, const ForeignConfig& config) {
    const json settings = tokenizer_settings(folder);
    const auto own = static_cast<std::int32_t>(config.integer("bos_token_id", -1));
    if (const auto added = settings.find("add_bos_token"); added != settings.end() && added->is_boolean()) {
        return added->get<bool>() ? own : -1;
    }
    if (const std::string file = file_in(folder, "tokenizer.json"); !file.empty()) {
        return first_of_template(read_json_file(file).value("post_processor", json()));
    }
    // Without that file the class decides.
    return settings.value("tokenizer_class", "").starts_with("LlamaTokenizer") ? own : -1;
}

}  // namespace headscope
