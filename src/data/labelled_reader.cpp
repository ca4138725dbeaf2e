#include "data/labelled_reader.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "data/json_line.h"
#include "support/check.h"

namespace headscope {
namespace {

void read_label(ConfigReader& reader, LabelledText& text) {
    const nlohmann::json& label = reader.child("label");
    if (label.is_number()) {
        text.number = label.get<double>();
        return;
    }
    if (!label.is_string()) {
        reader.fail("label", fmt::format("must be the name of a class or a number, found {}", label.dump()));
    }
    text.label = text_of_line(reader, "label");
}

}  // namespace

std::int32_t index_of_label(const LabelledText& text, const std::vector<std::string>& labels,
                            const std::string& place) {
    if (text.number.has_value() != labels.empty()) {
        throw Error(fmt::format("{}: the label is {}, but the model has {}", place,
                                text.number ? "a number" : "a class", text.number ? "classes" : "a number"));
    }
    if (text.number) {
        return 0;
    }
    const auto found = std::ranges::find(labels, text.label);
    if (found == labels.end()) {
        throw Error(fmt::format("{}: the class \"{}\" is unknown to the model, which has {}", place, text.label,
                                fmt::join(labels, ", ")));
    }
    return static_cast<std::int32_t>(found - labels.begin());
}

std::string LabelledReader::place() const {
    return fmt::format("{} line {}", lines_.name(), lines_.number());
}

bool LabelledReader::next(LabelledText& text) {
    if (!lines_.next(line_)) {
        return false;
    }
    const nlohmann::json json = json_of_line(line_, place(), R"({"text": "..", "label": ".."})");
    ConfigReader reader(json, place(), "");
    text = {.text = text_of_line(reader, "text")};
    if (reader.has("pair")) {
        text.pair = text_of_line(reader, "pair");
    }
    read_label(reader, text);
    reader.finish();
    if (numbers_.value_or(text.number.has_value()) != text.number.has_value()) {
        reader.fail("label", fmt::format("is {}, but earlier lines have {}: a file has one or the other",
                                         text.number ? "a number" : "a class", text.number ? "classes" : "numbers"));
    }
    numbers_ = text.number.has_value();
    return true;
}

}  // namespace headscope
