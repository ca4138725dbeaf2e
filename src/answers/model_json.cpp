#include "answers/model_json.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "model/training_card.h"

namespace headscope {

nlohmann::json model_facts(const ModelDirectory& model) {
    nlohmann::json facts = flat_model_keys(to_json(model.config), model.path);
    facts["parameters"] = count_parameters(model.config);
    facts["shared_vocabulary"] = model.source_tokenizer == model.target_tokenizer;
    const nlohmann::json decoding = model.decoding != nullptr ? *model.decoding : nlohmann::json::object();
    for (const auto& [key, value] : decoding.items()) {
        facts["decoding_" + key] = value;
    }
    const nlohmann::json card = read_training_card(model.path);
    for (const auto& [key, value] : card.items()) {
        facts["training_" + key] = value;
    }
    return facts;
}

nlohmann::ordered_json devices_json(const std::vector<DeviceInfo>& devices, const std::string& default_id) {
    using Json = nlohmann::ordered_json;
    const auto object = [](const std::vector<std::pair<std::string, std::string>>& entries) {
        Json json = Json::object();
        for (const auto& [name, value] : entries) {
            json[name] = value;
        }
        return json;
    };
    Json list = Json::array();
    for (const DeviceInfo& device : devices) {
        list.push_back({{"id", device.id},
                        {"usable", device.rejected.empty()},
                        {"default", device.id == default_id},
                        {"rejected", device.rejected},
                        {"backend", device.backend},
                        {"name", device.name},
                        {"driver", device.driver},
                        {"gpu", device.gpu},
                        {"software", device.software},
                        {"memory_bytes", device.memory_bytes},
                        {"limits", object(device.limits)},
                        {"features", object(device.features)}});
    }
    return list;
}

}  // namespace headscope
