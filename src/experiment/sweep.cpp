#include "experiment/sweep.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "infer/search_options.h"
#include "model/model_keys.h"
#include "support/check.h"
#include "support/random.h"
#include "train/run_config.h"
#include "train/train_config.h"

namespace headscope {
namespace {

constexpr const char* kBeam = "decoding.beam";
constexpr const char* kPenalty = "decoding.length_penalty";
constexpr std::size_t kMostTrials = 10'000;  // more is a typing error

std::vector<std::string> split(const std::string& text, char at) {
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(at, begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

// A JSON value, or a word without its quotation marks.
nlohmann::json value_of(const std::string& text) {
    nlohmann::json value = nlohmann::json::parse(text, nullptr, false);
    return value.is_discarded() ? nlohmann::json(text) : value;
}

std::string text_of(const nlohmann::json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

constexpr std::string_view kModel = "model.";

// The keys of a model may have their names of earlier versions.
std::string key_of_today(const std::string& key) {
    return key.starts_with(kModel) ? std::string(kModel) + model_key_of_today(key.substr(kModel.size())) : key;
}

void set(nlohmann::json& config, const std::string& key, const nlohmann::json& value) {
    if (key.starts_with(kModel)) {
        config["model"][key_of_today(key).substr(kModel.size())] = value;
        return;
    }
    nlohmann::json* at = &config;
    for (const std::string& part : split(key, '.')) {
        if (!at->is_null() && !at->is_object()) {
            throw Error(fmt::format("--vary {}: \"{}\" is not a section", key, part));
        }
        at = &(*at)[part];
    }
    *at = value;
}

void set_all(nlohmann::json& config, const SweepAxis& axis, const nlohmann::json& value) {
    for (const std::string& key : axis.keys) {
        set(config, key, value);
    }
}

}  // namespace

SweepAxis SweepAxis::parse(const std::string& text) {
    const std::size_t equals = text.find('=');
    SweepAxis axis{.keys = split(text.substr(0, equals), '+'), .values = {}};
    for (const std::string& value : split(equals == std::string::npos ? "" : text.substr(equals + 1), ',')) {
        if (value.empty() || value.find('/') != std::string::npos) {
            throw Error(
                fmt::format("--vary '{}': expected SECTION.KEY=VALUE,VALUE.., such as "
                            "training.residual_dropout=0.1,0.2",
                            text));
        }
        if (std::find(axis.values.begin(), axis.values.end(), value_of(value)) != axis.values.end()) {
            throw Error(fmt::format("--vary '{}': {} is given twice", text, value));
        }
        axis.values.push_back(value_of(value));
    }
    for (const std::string& key : axis.keys) {
        const std::string section = key.substr(0, key.find('.'));
        const std::set<std::string> sections{"model", "data", "training", "decoding"};
        if (sections.count(section) == 0 || key.size() <= section.size() + 1) {
            throw Error(
                fmt::format("--vary '{}': \"{}\" is not a key: expected one in model, data or training, "
                            "or {} or {}",
                            text, key, kBeam, kPenalty));
        }
        if (key.starts_with("data.valid")) {
            throw Error(fmt::format("--vary '{}': all trainings are compared on one development text", text));
        }
        if (section == "decoding" && (axis.keys.size() > 1 || (key != kBeam && key != kPenalty))) {
            throw Error(fmt::format("--vary '{}': of decoding only {} and {} can be varied, each alone", text, kBeam,
                                    kPenalty));
        }
    }
    return axis;
}

bool SweepAxis::decodes() const {
    return keys.front().starts_with("decoding.");
}

Sweep::Sweep(nlohmann::json base, std::vector<SweepAxis> axes, std::size_t random, std::uint64_t seed)
    : base_(with_flat_model(std::move(base))) {
    std::set<std::string> keys;
    std::size_t all = 1;
    for (SweepAxis& axis : axes) {
        for (const std::string& key : axis.keys) {
            if (!keys.insert(key_of_today(key)).second) {
                throw Error(fmt::format("\"{}\" is varied twice: give its values in one --vary", key_of_today(key)));
            }
        }
        all *= axis.decodes() ? 1 : axis.values.size();
        if (all > kMostTrials) {
            throw Error(fmt::format("more than {} trainings: vary less", kMostTrials));
        }
        (axis.decodes() ? decoded_ : trained_).push_back(std::move(axis));
    }
    check_values();
    std::vector<std::size_t> numbers(all);
    for (std::size_t i = 0; i < all; ++i) {
        numbers[i] = i;
    }
    if (random > 0 && random < all) {
        Random draw(seed);
        for (std::size_t i = 0; i < random; ++i) {
            std::swap(numbers[i], numbers[i + draw.below(all - i)]);
        }
        numbers.resize(random);
    }
    for (const std::size_t number : numbers) {
        add_trial(number);
    }
}

std::string Sweep::name_of(const SweepAxis& axis) const {
    const std::string& key = axis.keys.front();
    const auto shared = [&](const std::string& tail) {
        return std::count_if(trained_.begin(), trained_.end(), [&](const SweepAxis& other) {
                   return ("." + other.keys.front()).ends_with("." + tail);
               }) > 1;
    };
    std::size_t dot = key.rfind('.');
    while (dot != std::string::npos && shared(key.substr(dot + 1))) {
        dot = dot == 0 ? std::string::npos : key.rfind('.', dot - 1);
    }
    return dot == std::string::npos ? key : key.substr(dot + 1);
}

// One value at a time, so that a wrong one is an error before anything is trained. Values that only do not go together
// make their trial fail.
void Sweep::check_values() const {
    for (const SweepAxis& axis : trained_) {
        for (const nlohmann::json& value : axis.values) {
            nlohmann::json config = base_;
            set_all(config, axis, value);
            static_cast<void>(parse_train_config(config, fmt::format("{}={}", name_of(axis), text_of(value)), ""));
        }
    }
    for (const Decoding& decoding : decodings()) {
        SearchOptions options;
        options.beam = decoding.beam;
        options.length_penalty = decoding.length_penalty;
        check_search_options(options);
    }
}

// The number's digits, one for each axis, are indices of values; the first axis changes slowest.
void Sweep::add_trial(std::size_t number) {
    Trial trial{.name = {}, .config = base_, .decodings = decodings()};
    std::vector<std::string> values(trained_.size());
    for (std::size_t i = trained_.size(); i-- > 0;) {
        const SweepAxis& axis = trained_[i];
        const nlohmann::json& value = axis.values[number % axis.values.size()];
        number /= axis.values.size();
        set_all(trial.config, axis, value);
        values[i] = text_of(value);
    }
    for (std::size_t i = 0; i < trained_.size(); ++i) {
        trial.name += fmt::format("{}{}={}", i == 0 ? "" : ",", name_of(trained_[i]), values[i]);
    }
    trial.name = trial.name.empty() ? "base" : trial.name;
    trials_.push_back(std::move(trial));
    values_.push_back(std::move(values));
}

std::vector<Decoding> Sweep::decodings() const {
    std::vector<Decoding> all{{}};
    for (const SweepAxis& axis : decoded_) {
        std::vector<Decoding> more;
        for (const Decoding& one : all) {
            for (const nlohmann::json& value : axis.values) {
                if (!value.is_number() || (axis.keys.front() == kBeam && !value.is_number_integer())) {
                    throw Error(fmt::format("--vary {}: {} is not a {}number", axis.keys.front(), value.dump(),
                                            axis.keys.front() == kBeam ? "whole " : ""));
                }
                more.push_back(one);
                if (axis.keys.front() == kBeam) {
                    more.back().beam = value.get<int>();
                } else {
                    more.back().length_penalty = value.get<double>();
                }
            }
        }
        all = std::move(more);
    }
    return all;
}

std::vector<Sweep::Row> Sweep::rows(const Experiment& experiment, Order order) const {
    std::vector<Row> rows;
    for (std::size_t i = 0; i < trials_.size(); ++i) {
        const std::optional<TrialResult> result = experiment.result_of(trials_[i]);
        for (std::size_t j = 0; result && j < result->bleu.size(); ++j) {
            const Decoding& decoding = trials_[i].decodings[j];
            Row row{.values = values_[i], .result = *result, .bleu = result->bleu[j], .trial = trials_[i].name};
            row.values.push_back(std::to_string(decoding.beam));
            row.values.push_back(fmt::format("{:g}", decoding.length_penalty));
            rows.push_back(std::move(row));
        }
    }
    std::stable_sort(rows.begin(), rows.end(), [order](const Row& a, const Row& b) {
        const std::pair bleu{-a.bleu, -b.bleu};
        const std::pair perplexity{a.result.perplexity, b.result.perplexity};
        const auto& [first, second] = order == Order::Bleu ? std::pair{bleu, perplexity} : std::pair{perplexity, bleu};
        return first.first != first.second ? first.first < first.second : second.first < second.second;
    });
    return rows;
}

TextTable Sweep::table(const Experiment& experiment, Order order) const {
    TextTable table{.head = {}, .rows = {}, .left = 0};
    for (const SweepAxis& axis : trained_) {
        table.head.push_back(name_of(axis));
    }
    for (const char* name : {"beam", "penalty", "BLEU", "PPL", "params", "minutes"}) {
        table.head.emplace_back(name);
    }
    for (Row& row : rows(experiment, order)) {
        std::vector<std::string> cells = std::move(row.values);
        cells.push_back(fmt::format("{:.2f}", row.bleu));
        cells.push_back(fmt::format("{:.2f}", row.result.perplexity));
        cells.push_back(fmt::format("{:.2f}", static_cast<double>(row.result.parameters) / 1e6));
        cells.push_back(fmt::format("{:.1f}", row.result.minutes));
        table.rows.push_back(std::move(cells));
    }
    return table;
}

nlohmann::json Sweep::json(const Experiment& experiment, Order order) const {
    nlohmann::json all = nlohmann::json::array();
    for (const Row& row : rows(experiment, order)) {
        nlohmann::json values = nlohmann::json::object();
        for (std::size_t i = 0; i < trained_.size(); ++i) {
            values[trained_[i].keys.front()] = value_of(row.values[i]);
        }
        values[kBeam] = value_of(row.values[trained_.size()]);
        values[kPenalty] = value_of(row.values[trained_.size() + 1]);
        all.push_back({{"trial", row.trial},
                       {"values", values},
                       {"bleu", row.bleu},
                       {"perplexity", row.result.perplexity},
                       {"parameters", row.result.parameters},
                       {"minutes", row.result.minutes},
                       {"unscored", row.result.unscored},
                       {"untranslated", row.result.untranslated}});
    }
    return {{"experiment", "sweep"}, {"rows", all}};
}

}  // namespace headscope
