// The chat templates of Hugging Face's folders.
#include <nlohmann/json.hpp>

#include "import/common.h"
#include "import/hugging_face.h"
#include "io/whole_file.h"

namespace headscope {

std::string chat_source(const std::string& folder) {
    using nlohmann::json;
    if (const std::string file = file_in(folder, "chat_template.jinja"); !file.empty()) {
        return read_whole_file(file, file);
    }
    const json stated = tokenizer_settings(folder).value("chat_template", json());
    if (stated.is_string()) {
        return stated.get<std::string>();
    }
    for (const json& one : stated.is_array() ? stated : json::array()) {
        if (one.is_object() && one.value("name", json()) == "default" && one.value("template", json()).is_string()) {
            return one["template"].get<std::string>();
        }
    }
    return "";
}

}  // namespace headscope
