#include "answers/vector_json.h"

#include <charconv>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace headscope {

using Json = nlohmann::ordered_json;

Json vectors_json(VectorUnit unit, std::int64_t line, const std::string& text, const TextVectors& vectors,
                  const std::function<Json(std::size_t)>& keys) {
    Json json = {{"line", line}, {"text", text}};
    if (!vectors.problem.empty()) {
        json["problem"] = vectors.problem;
        return json;
    }
    if (unit == VectorUnit::Line) {
        json.update(keys(0));
        return json;
    }
    const bool words = unit == VectorUnit::Word;
    Json& list = json[words ? "words" : "pieces"] = Json::array();
    for (std::size_t i = 0; i < vectors.labels.size(); ++i) {
        list.push_back({{words ? "word" : "piece", vectors.labels[i]}});
        list.back().update(keys(i));
    }
    return json;
}

Json numbers_json(const TextVectors& vectors, std::size_t index) {
    Json numbers = Json::array();
    for (const float number : vectors.vector(index)) {
        const std::string shortest = fmt::format("{}", number);  // that reads back as the same float
        double same = 0.0;
        std::from_chars(shortest.data(), shortest.data() + shortest.size(), same);  // in any locale
        numbers.push_back(same);
    }
    return {{"vector", std::move(numbers)}};
}

}  // namespace headscope
