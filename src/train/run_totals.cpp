#include "train/run_totals.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/check.h"
#include "support/counted.h"
#include "support/duration.h"

namespace headscope {
namespace {

double per(double sum, double count) {
    return count == 0.0 ? 0.0 : sum / count;
}

double per(double sum, std::int64_t count) {
    return per(sum, static_cast<double>(count));
}

}  // namespace

void RunTotals::add(const StepRecord& record, bool scale_fell) {
    all_tokens += record.tokens.source + record.tokens.target;
    if (record.skipped) {
        ++skipped;
        ++skipped_in_a_row;
        stuck_in_a_row = scale_fell ? 0 : stuck_in_a_row + 1;
        return;
    }
    skipped_in_a_row = stuck_in_a_row = 0;
    ++steps;
    loss += record.loss;
    nll += record.nll;
    divisor += record.divisor;
    gradient_norm += record.gradient_norm;
    source_tokens += record.tokens.source;
    target_tokens += record.tokens.target;
}

std::string instead_of_perplexity(double nll, const std::map<std::string, double>& measures, int digits) {
    if (measures.empty()) {
        return fmt::format("  perplexity {:.{}f}", std::exp(nll), digits);
    }
    std::string text;
    for (const auto& [name, mean] : measures) {
        std::string words = name;
        std::replace(words.begin(), words.end(), '_', ' ');
        text += fmt::format("  {} {:.4f}", words, mean);
    }
    return text;
}

void add_measures(double nll, const std::map<std::string, double>& measures, nlohmann::json& line) {
    if (measures.empty()) {
        line["perplexity"] = std::exp(nll);
    }
    for (const auto& [name, mean] : measures) {
        line[name] = mean;
    }
}

void RunTotals::restart() {
    *this = RunTotals{.skipped_in_a_row = skipped_in_a_row,
                      .stuck_in_a_row = stuck_in_a_row,
                      .first_not_finite = std::move(first_not_finite)};
}

nlohmann::json to_json(const RunTotals& t) {
    nlohmann::json json = {{"loss", t.loss},
                           {"nll", t.nll},
                           {"gradient_norm", t.gradient_norm},
                           {"steps", t.steps},
                           {"skipped", t.skipped},
                           {"skipped_in_a_row", t.skipped_in_a_row},
                           {"stuck_in_a_row", t.stuck_in_a_row},
                           {"source_tokens", t.source_tokens},
                           {"target_tokens", t.target_tokens},
                           {"all_tokens", t.all_tokens},
                           {"seconds", t.seconds}};
    if (t.divisor != static_cast<double>(t.target_tokens)) {
        json["divisor"] = t.divisor;
    }
    if (!t.layer_norms.empty()) {
        json["watched_steps"] = t.watched_steps;
        json["layer_norms"] = t.layer_norms;
    }
    if (!t.first_not_finite.empty()) {
        json["first_not_finite"] = t.first_not_finite;
    }
    if (!t.measures.empty()) {
        json["measures"] = t.measures;
    }
    return json;
}

bool is_count(const nlohmann::json& value) {
    // A number beyond int64 is unsigned, and negative when read as signed.
    return value.is_number_integer() && value.get<std::int64_t>() >= 0;
}

std::int64_t count_of(const nlohmann::json& value, const char* key) {
    if (!is_count(value)) {
        throw Error(fmt::format("\"{}\" is {}; expected a whole number from 0", key, value.dump()));
    }
    return value.get<std::int64_t>();
}

std::int64_t count_at(const nlohmann::json& json, const char* key) {
    return count_of(json.at(key), key);
}

RunTotals parse_run_totals(const nlohmann::json& json) {
    RunTotals t;
    json.at("loss").get_to(t.loss);
    json.at("nll").get_to(t.nll);
    json.at("gradient_norm").get_to(t.gradient_norm);
    t.steps = count_at(json, "steps");
    t.skipped = count_at(json, "skipped");
    t.skipped_in_a_row = count_at(json, "skipped_in_a_row");
    // Earlier versions had no loss scale, so every skipped step counted.
    t.stuck_in_a_row = json.contains("stuck_in_a_row") ? count_at(json, "stuck_in_a_row") : t.skipped_in_a_row;
    t.source_tokens = count_at(json, "source_tokens");
    t.target_tokens = count_at(json, "target_tokens");
    t.all_tokens = count_at(json, "all_tokens");
    t.divisor = json.value("divisor", static_cast<double>(t.target_tokens));
    json.at("seconds").get_to(t.seconds);
    if (json.contains("layer_norms")) {
        t.watched_steps = count_at(json, "watched_steps");
        json.at("layer_norms").get_to(t.layer_norms);
    }
    if (json.contains("measures")) {
        json.at("measures").get_to(t.measures);
    }
    t.first_not_finite = json.value("first_not_finite", t.first_not_finite);
    return t;
}

double Report::loss() const {
    return per(totals.loss, totals.divisor);
}

double Report::nll() const {
    return per(totals.nll, totals.divisor);
}

std::map<std::string, double> Report::measures() const {
    std::map<std::string, double> means = totals.measures;
    for (auto& [name, value] : means) {
        value = per(value, totals.divisor);
    }
    means.insert(of_source.begin(), of_source.end());
    return means;
}

double Report::tokens_per_second() const {
    return totals.seconds > 0.0 ? static_cast<double>(totals.all_tokens) / totals.seconds : 0.0;
}

std::string Report::line() const {
    std::string text =
        fmt::format("step {}  epoch {:.2f}  loss {:.4f}  nll {:.4f}{}  {:.0f} tokens/s  lr {:.2e}  grad norm {:.2f}",
                    step, epoch, loss(), nll(), instead_of_perplexity(nll(), measures(), 2), tokens_per_second(),
                    learning_rate, per(totals.gradient_norm, totals.steps));
    if (loss_scale > 0.0) {
        text += fmt::format("  scale {:g}", loss_scale);
    }
    if (minutes_left >= 0.0) {
        text += "  ETA " + duration_text(minutes_left);
    }
    if (totals.skipped > 0) {
        text += fmt::format("  SKIPPED {} whose gradient was not finite", counted(totals.skipped, "step"));
        if (!totals.first_not_finite.empty()) {
            text += fmt::format(", first in the backward pass: {}", totals.first_not_finite);
        }
    }
    return text;
}

nlohmann::json Report::json() const {
    nlohmann::json line = {{"kind", "train"},
                           {"step", step},
                           {"epoch", epoch},
                           {"loss", loss()},
                           {"nll", nll()},
                           {"tokens_per_second", tokens_per_second()},
                           {"target_tokens", totals.target_tokens},
                           {"source_tokens", totals.source_tokens},
                           {"learning_rate", learning_rate},
                           {"gradient_norm", per(totals.gradient_norm, totals.steps)},
                           {"skipped", totals.skipped},
                           {"minutes", minutes},
                           {"memory_bytes", memory_bytes}};
    if (flops) {
        line["flops"] = *flops;
    }
    if (loss_scale > 0.0) {
        line["loss_scale"] = loss_scale;
    }
    add_measures(nll(), measures(), line);
    for (const auto& [layer, sum] : totals.layer_norms) {
        line["gradient_norms"][layer] = per(sum, totals.watched_steps);
    }
    if (totals.skipped > 0 && !totals.first_not_finite.empty()) {
        line["first_not_finite"] = totals.first_not_finite;
    }
    return line;
}

}  // namespace headscope
