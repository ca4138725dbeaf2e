#include "import/yaml.h"

#include <cstdint>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>
#include <nlohmann/json.hpp>

#include "support/check.h"

namespace headscope {

namespace {

class Converter {
public:
    nlohmann::json convert(const YAML::Node& node, int depth = 0) {
        constexpr int kDeepest = 64;
        constexpr int kMostNodes = 1'000'000;  // aliases can repeat a node exponentially often
        if (depth > kDeepest || ++nodes_ > kMostNodes) {
            throw Error("too deep or too many values");
        }
        switch (node.Type()) {
            case YAML::NodeType::Scalar: return scalar(node);
            case YAML::NodeType::Sequence: {
                nlohmann::json list = nlohmann::json::array();
                for (const YAML::Node& item : node) {
                    list.push_back(convert(item, depth + 1));
                }
                return list;
            }
            case YAML::NodeType::Map: {
                nlohmann::json map = nlohmann::json::object();
                for (const auto& item : node) {
                    map[item.first.as<std::string>()] = convert(item.second, depth + 1);
                }
                return map;
            }
            default: return nullptr;
        }
    }

private:
    static nlohmann::json scalar(const YAML::Node& node) {
        const std::string& text = node.Scalar();
        std::int64_t integer = 0;
        double number = 0.0;
        if (node.Tag() == "!") {  // quoted
            return text;
        }
        // Not the other words of YAML 1.1: Sockeye and Marian have the values n and y.
        if (text == "true" || text == "false") {
            return text == "true";
        }
        if (text == "null" || text == "~" || text.empty()) {
            return nullptr;
        }
        if (YAML::convert<std::int64_t>::decode(node, integer)) {
            return integer;
        }
        return YAML::convert<double>::decode(node, number) ? nlohmann::json(number) : nlohmann::json(text);
    }

    int nodes_ = 0;
};

}  // namespace

nlohmann::json parse_yaml(const std::string& text, const std::string& file) {
    try {
        return Converter().convert(YAML::Load(text));
    } catch (const YAML::Exception& problem) {
        throw Error(fmt::format("{} is not valid YAML: {}", file, problem.what()));
    } catch (const Error& problem) {
        throw Error(fmt::format("{}: {}", file, problem.what()));
    }
}

}  // namespace headscope
