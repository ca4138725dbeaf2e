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

Sweep::Sweep(nlohmann::json base, std::vector<SweepAxis> axes, std::size_t random, std::uint64_t seed, Order order)
    : base_(with_flat_model(std::move(base))), order_(order) {
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

struct Sweep::Row {
    std::string trial;
    const std::vector<std::string>* values;  // of the trained axes
    Decoding decoding;
    double bleu;
    std::optional<double> f1;  // of a model that writes trees
    TrialResult result;
};

std::vector<Sweep::Row> Sweep::rows(const Experiment& experiment) const {
    std::vector<Row> rows;
    for (std::size_t i = 0; i < trials_.size(); ++i) {
        const std::optional<TrialResult> result = experiment.result_of(trials_[i]);
        for (std::size_t j = 0; result && j < result->bleu.size(); ++j) {
            const std::optional<double> f1 = result->f1.empty() ? std::nullopt : std::optional(result->f1.at(j));
            rows.push_back({trials_[i].name, &values_[i], trials_[i].decodings[j], result->bleu[j], f1, *result});
        }
    }
    std::stable_sort(rows.begin(), rows.end(), [this](const Row& a, const Row& b) {
        const auto key = [this](const Row& row) {
            switch (order_) {
                case Order::Perplexity: return std::pair{row.result.perplexity, -row.bleu};
                case Order::F1: return std::pair{-row.f1.value_or(0.0), row.result.perplexity};
                case Order::Bleu: break;
            }
            return std::pair{-row.bleu, row.result.perplexity};
        };
        return key(a) < key(b);
    });
    return rows;
}

std::vector<Column<Sweep::Row>> Sweep::columns(bool parses) const {
    std::vector<Column<Row>> all;
    for (std::size_t i = 0; i < trained_.size(); ++i) {
        all.push_back({name_of(trained_[i]), "", [i](const Row& row) { return (*row.values)[i]; }});
    }
    all.push_back({"beam", "", [](const Row& row) { return row.decoding.beam; }});
    all.push_back({"penalty", "", [](const Row& row) { return fmt::format("{:g}", row.decoding.length_penalty); }});
    if (parses) {
        all.push_back({"F1", "f1", [](const Row& row) { return or_null(row.f1); }});
    }
    const std::vector<Column<Row>> more = {
        {"BLEU", "bleu", [](const Row& row) { return row.bleu; }},
        {"PPL", "perplexity", [](const Row& row) { return row.result.perplexity; }},
        {"params", "parameters", [](const Row& row) { return row.result.parameters; }, 2, 1e6},
        {"minutes", "minutes", [](const Row& row) { return row.result.minutes; }, 1},
        {"", "trial", [](const Row& row) { return row.trial; }},
        {"", "unscored", [](const Row& row) { return row.result.unscored; }},
        {"", "untranslated", [](const Row& row) { return row.result.untranslated; }},
        {"", "values", [this](const Row& row) {
             nlohmann::json values = {{kBeam, row.decoding.beam},
                                      {kPenalty, value_of(fmt::format("{:g}", row.decoding.length_penalty))}};
             for (std::size_t i = 0; i < trained_.size(); ++i) {
                 values[trained_[i].keys.front()] = value_of((*row.values)[i]);
             }
             return values;
         }}};
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

StudyReport Sweep::report(const Experiment& experiment, const std::vector<TrialProblem>& problems) {
    const std::vector<Row> found = rows(experiment);
    const auto without = std::find_if(found.begin(), found.end(), [](const Row& row) { return !row.f1.has_value(); });
    const auto all =
        columns(std::any_of(found.begin(), found.end(), [](const Row& row) { return row.f1.has_value(); }));
    StudyReport report{.json = {{"experiment", "sweep"}, {"rows", json_of(all, found)}},
                       .tables = {table_of(all, found, 0)},
                       .notes = problem_lines(problems)};
    if (order_ == Order::F1 && without != found.end()) {
        report.problem = fmt::format(
            "\"{}\" has no F1: its target is not trees (headscope trees linearise), or an earlier version measured it",
            without->trial);
    }
    return report;
}

}  // namespace headscope
