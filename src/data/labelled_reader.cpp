#include "data/labelled_reader.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "data/json_line.h"
#include "support/check.h"

namespace headscope {
namespace {

struct FormNames {
    const char* label;  // of a text
    const char* model;  // what a model has
    const char* lines;  // what lines have
};

const FormNames& names_of(LabelForm form) {
    static constexpr std::array<FormNames, 3> kNames{
        {{"a class", "classes, of which a text has one", "classes"},
         {"a list of classes", "any number of classes for a text", "lists"},
         {"a number", "a number", "numbers"}}};
    return kNames[static_cast<std::size_t>(form)];
}

void read_label(ConfigReader& reader, LabelledText& text) {
    const nlohmann::json& label = reader.child("label");
    if (label.is_number()) {
        text.form = LabelForm::Number;
        text.number = label.get<double>();
    } else if (label.is_array()) {
        text.form = LabelForm::Classes;
        for (const nlohmann::json& one : label) {
            const std::string name = one.is_string() ? one.get<std::string>() : "";
            if (name.empty() || std::ranges::find(text.labels, name) != text.labels.end()) {
                reader.fail("label", fmt::format("must list names of classes, each once, found {}", label.dump()));
            }
            text.labels.push_back(name);
        }
    } else if (label.is_string()) {
        text.form = LabelForm::Class;
        text.labels = {text_of_line(reader, "label")};
    } else {
        reader.fail("label",
                    fmt::format("must be the name of a class, a list of names or a number, found {}", label.dump()));
    }
}

}  // namespace

WantedLabel wanted_label(const LabelledText& text, LabelForm form, const std::vector<std::string>& labels,
                         const std::string& place) {
    if (text.form != form) {
        throw Error(fmt::format("{}: the label is {}, but the model has {}", place, names_of(text.form).label,
                                names_of(form).model));
    }
    WantedLabel wanted;
    switch (form) {
        case LabelForm::Number: wanted.numbers = {static_cast<float>(text.number)}; break;
        case LabelForm::Classes: wanted.numbers.assign(labels.size(), -1.0F); break;
        case LabelForm::Class: break;
    }
    for (const std::string& label : text.labels) {
        const auto found = std::ranges::find(labels, label);
        if (found == labels.end()) {
            throw Error(fmt::format("{}: the class \"{}\" is unknown to the model, which has {}", place, label,
                                    fmt::join(labels, ", ")));
        }
        const auto at = found - labels.begin();
        if (form == LabelForm::Classes) {
            wanted.numbers[static_cast<std::size_t>(at)] = 1.0F;
        } else {
            wanted.label = static_cast<std::int32_t>(at);
        }
    }
    return wanted;
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
    if (form_.value_or(text.form) != text.form) {
        reader.fail("label", fmt::format("is {}, but earlier lines have {}: a file has one or the other",
                                         names_of(text.form).label, names_of(*form_).lines));
    }
    form_ = text.form;
    return true;
}

}  // namespace headscope
