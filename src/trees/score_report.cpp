#include "trees/score_report.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace headscope {

namespace {

constexpr std::int64_t kLongLengths = 60;  // longer sentences are one group

constexpr const char* kEvalbHead =
    "  Sent.                        Matched  Bracket   Cross        Correct Tag\n"
    " ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy\n";
constexpr const char* kEvalbRule = "============================================================================\n";

ScoreTotals totals_of(const TreeScore& score) {
    ScoreTotals totals;
    totals.add(score);
    return totals;
}

std::string evalb_line(std::size_t number, const TreeScore& score) {
    const ScoreTotals totals = totals_of(score);
    return fmt::format("{:4}  {:3}    {}  {:6.2f} {:6.2f}   {:3}    {:3}  {:3}    {:3}   {:4}  {:4}   {:6.2f}\n",
                       number, score.length, static_cast<int>(score.status), totals.recall(), totals.precision(),
                       totals.matched, totals.gold, totals.test, totals.crossing, totals.words, totals.tags,
                       totals.tag_accuracy());
}

std::string evalb_sums(const ScoreTotals& totals) {
    const std::string brackets =
        totals.gold > 0 && totals.test > 0
            ? fmt::format("                {:6.2f} {:6.2f} {:6} {:5} {:5}  {:5}", totals.recall(), totals.precision(),
                          totals.matched, totals.gold, totals.test, totals.crossing)
            : "";
    return fmt::format("{}  {:5} {:5}   {:6.2f}\n", brackets, totals.words, totals.tags, totals.tag_accuracy());
}

double average_crossing(const ScoreTotals& totals) {
    return totals.valid() > 0 ? static_cast<double>(totals.crossing) / static_cast<double>(totals.valid()) : 0.0;
}

std::string evalb_summary(const std::string& title, const ScoreTotals& totals) {
    std::string text = fmt::format("\n-- {} --\n", title);
    const auto count = [&](const char* name, std::int64_t value) {
        text += fmt::format("{:<26}= {:6}\n", name, value);
    };
    const auto number = [&](const char* name, double value) { text += fmt::format("{:<26}= {:6.2f}\n", name, value); };
    count("Number of sentence", totals.sentences);
    count("Number of Error sentence", totals.errors);
    count("Number of Skip  sentence", totals.skipped);
    count("Number of Valid sentence", totals.valid());
    number("Bracketing Recall", totals.recall());
    number("Bracketing Precision", totals.precision());
    number("Bracketing FMeasure", totals.f1());
    number("Complete match", totals.share(totals.exact));
    number("Average crossing", average_crossing(totals));
    number("No crossing", totals.share(totals.no_crossing));
    number("2 or less crossing", totals.share(totals.few_crossing));
    number("Tagging accuracy", totals.tag_accuracy());
    return text;
}

std::string table_line(const std::string& name, const ScoreTotals& totals) {
    return fmt::format("{:<9}{:>9}{:>8}{:>9}{:>8.2f}{:>11.2f}{:>8.2f}{:>8.2f}{:>10.2f}{:>8.2f}{:>13.2f}{:>8.2f}\n",
                       name, totals.sentences, totals.errors, totals.skipped, totals.recall(), totals.precision(),
                       totals.f1(), totals.share(totals.exact), average_crossing(totals),
                       totals.share(totals.no_crossing), totals.share(totals.few_crossing), totals.tag_accuracy());
}

nlohmann::ordered_json json_of(const ScoreTotals& totals) {
    const double f1 = totals.f1();
    return {{"sentences", totals.sentences},
            {"errors", totals.errors},
            {"skipped", totals.skipped},
            {"matched", totals.matched},
            {"gold", totals.gold},
            {"test", totals.test},
            {"recall", totals.recall()},
            {"precision", totals.precision()},
            {"f1", std::isnan(f1) ? nlohmann::ordered_json() : nlohmann::ordered_json(f1)},
            {"exact", totals.share(totals.exact)},
            {"crossing", average_crossing(totals)},
            {"no_crossing", totals.share(totals.no_crossing)},
            {"two_or_less_crossing", totals.share(totals.few_crossing)},
            {"tags", totals.tag_accuracy()}};
}

std::string name_of_ten(std::int64_t first) {
    return first > kLongLengths ? fmt::format("over {}", kLongLengths) : fmt::format("{}-{}", first, first + 9);
}

}  // namespace

void ScoreReport::add(const TreeScore& score) {
    all_.add(score);
    if (score.length <= cutoff_) {
        short_.add(score);
    }
    scores_.push_back(score);
}

std::string ScoreReport::evalb() const {
    std::string text = std::string(kEvalbHead) + kEvalbRule;
    for (std::size_t i = 0; i < scores_.size(); ++i) {
        text += evalb_line(i + 1, scores_[i]);
    }
    return text + kEvalbRule + evalb_sums(all_) + "=== Summary ===\n" + evalb_summary("All", all_) +
           evalb_summary(fmt::format("len<={}", cutoff_), short_);
}

std::map<std::int64_t, ScoreTotals> ScoreReport::tens() const {
    std::map<std::int64_t, ScoreTotals> totals;
    for (const TreeScore& score : scores_) {
        const std::int64_t before = std::max<std::int64_t>(score.length - 1, 0);
        totals[std::min(before / 10 * 10, kLongLengths) + 1].add(score);
    }
    return totals;
}

std::string ScoreReport::table() const {
    std::string text =
        fmt::format("{:<9}{:>9}{:>8}{:>9}{:>8}{:>11}{:>8}{:>8}{:>10}{:>8}{:>13}{:>8}\n", "words", "sentences", "errors",
                    "skipped", "recall", "precision", "F1", "exact", "crossing", "none", "two or less", "tags");
    for (const auto& [first, totals] : tens()) {
        text += table_line(name_of_ten(first), totals);
    }
    return text + table_line(fmt::format("up to {}", cutoff_), short_) + table_line("all", all_);
}

nlohmann::ordered_json ScoreReport::json() const {
    nlohmann::ordered_json json = {{"all", json_of(all_)}, {fmt::format("up to {}", cutoff_), json_of(short_)}};
    for (const auto& [first, totals] : tens()) {
        json[name_of_ten(first)] = json_of(totals);
    }
    return json;
}

}  // namespace headscope
