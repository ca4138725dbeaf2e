#include "cli/score/temperature_report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "answers/json_output.h"
#include "support/counted.h"

namespace headscope {

namespace {

using Json = nlohmann::ordered_json;

Json statistics_json(double temperature, const ForcedStatistics& of) {
    return {{"temperature", temperature},
            {"nll", of.nll()},
            {"perplexity", of.perplexity()},
            {"calibration", calibration_json(of)}};
}

std::string row_of(const char* name, double before, double after, int decimals, const char* unit) {
    return fmt::format("{:<31}{:>10.{}f}{:<2}{:>10.{}f}{}\n", name, before, decimals, unit, after, decimals, unit);
}

}  // namespace

std::string temperature_table(const TemperatureFit& fit) {
    const ForcedStatistics& before = fit.before;
    const ForcedStatistics& after = fit.after;
    std::string text =
        fmt::format("{:<31}{:>10}{:>12}\n", "", "before", "after") +
        row_of("temperature", fit.had, fit.temperature, 4, "") +
        row_of("perplexity per piece", before.perplexity(), after.perplexity(), 3, "") +
        row_of("calibration error (ECE)", 100.0 * before.expected_calibration_error(),
               100.0 * after.expected_calibration_error(), 2, " %") +
        row_of("probability of likeliest piece", 100.0 * before.confidence(), 100.0 * after.confidence(), 1, " %") +
        row_of("which is right", 100.0 * before.accuracy(), 100.0 * after.accuracy(), 1, " %") +
        fmt::format("over {} pieces\n", fmt::group_digits(before.tokens()));
    if (fit.left_out > 0) {
        text += fmt::format("{} left out: empty or too long for the model\n", counted(fit.left_out, "pair"));
    }
    return text + (fit.kept.empty() ? "" : fmt::format("kept in '{}' as \"output.temperature\"\n", fit.kept));
}

std::string temperature_json(const TemperatureFit& fit, const ResultOrigin& origin, const EvaluatedBy& by) {
    Json json = to_json(origin);
    json.update({{"model", evaluated_by_json(by)},
                 {"tokens", fit.before.tokens()},
                 {"left_out", fit.left_out},
                 {"before", statistics_json(fit.had, fit.before)},
                 {"after", statistics_json(fit.temperature, fit.after)},
                 {"kept", fit.kept.empty() ? Json() : Json(fit.kept)}});
    return json_document(json);
}

}  // namespace headscope
