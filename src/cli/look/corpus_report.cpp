#include "cli/look/corpus_report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "observe/family_labels.h"
#include "support/counted.h"

namespace headscope {

namespace {

using Json = nlohmann::ordered_json;

std::string interval_text(const Interval& interval, const char* format) {
    return fmt::format("[{}, {}]", fmt::format(fmt::runtime(format), interval.low),
                       fmt::format(fmt::runtime(format), interval.high));
}

Json to_json(const Interval& interval) {
    return Json::array({interval.low, interval.high});
}

Json to_json(const AnswerRate& rate) {
    return {{"rate", rate.rate}, {"interval", to_json(rate.interval)}};
}

Json to_json(const CorpusScore& score) {
    Json out{{"nll", score.nll}};
    if (score.bleu.has_value()) {
        out["bleu"] = *score.bleu;
    }
    return out;
}

Json to_json(const std::vector<AblatedHeads>& all) {
    Json list = Json::array();
    for (const AblatedHeads& one : all) {
        Json out{{"kind", name_of(one.site.kind)}, {"layer", one.site.layer + 1}};
        if (one.head > 0) {
            out["head"] = one.head;
        }
        out.update(to_json(one.score));
        list.push_back(std::move(out));
    }
    return list;
}

Json to_json(const std::vector<PruningPoint>& curve) {
    Json list = Json::array();
    for (const PruningPoint& point : curve) {
        Json out{{"heads_left", point.left}};
        out.update(to_json(point.score));
        list.push_back(std::move(out));
    }
    return list;
}

// "  0.123   -1.4": what is lost of the whole model's nats and BLEU.
std::string lost(const CorpusScore& score, const CorpusScore& whole, const std::optional<double>& bleu) {
    return fmt::format("{:>9.4f}{}", score.nll - whole.nll,
                       score.bleu.has_value() ? fmt::format("{:>8.1f}", *bleu - *score.bleu) : "");
}

std::string curves_text(const CorpusImportance& importance) {
    const bool bleu = importance.translated > 0;
    std::string text = fmt::format("\n{:>10}{:>18}{:>18}{}\n", "heads left", "least important", "at random",
                                   bleu ? fmt::format("{:>8}{:>12}", "BLEU", "at random") : "");
    for (std::size_t at = 0; at < importance.pruned.size(); ++at) {
        const PruningPoint& point = importance.pruned[at];
        CorpusScore mean{.bleu = 0.0};
        for (const std::vector<PruningPoint>& curve : importance.pruned_at_random) {
            const auto curves = static_cast<double>(importance.pruned_at_random.size());
            mean.nll += curve[at].score.nll / curves;
            mean.bleu = *mean.bleu + curve[at].score.bleu.value_or(0.0) / curves;
        }
        text += fmt::format("{:>10}{:>18.4f}{:>18.4f}{}\n", point.left, point.score.nll, mean.nll,
                            bleu ? fmt::format("{:>8.1f}{:>12.1f}", *point.score.bleu, *mean.bleu) : "");
    }
    return text;
}

}  // namespace

std::string text_of(const std::vector<CorpusFinding>& findings, Architecture family) {
    std::string text;
    for (const CorpusFinding& finding : findings) {
        text += fmt::format("{}: {}\n", name_of(finding.query), meaning_of(finding.query.rule));
        text += fmt::format("  {} with questions; {} measured\n", counted(finding.sentences, "sentence"),
                            counted(finding.questions, "question"));
        const auto row = [&](const std::string& name, double rate, const std::string& rest) {
            text += fmt::format("  {:<28}{:.2f}  {}\n", name, rate, rest);
        };
        row(fmt::format("{}, head {}", layer_label(family, finding.site), finding.head), finding.measured.rate,
            fmt::format("{}   {:.2f} on the half that chose it", interval_text(finding.measured.interval, "{:.2f}"),
                        finding.chosen.rate));
        for (const BaselineResult& baseline : finding.baselines) {
            row(baseline.name, baseline.rate,
                fmt::format("the head {:+.2f} {}", baseline.more, interval_text(baseline.interval, "{:+.2f}")));
        }
        text += fmt::format("  better than every baseline: {} of {} heads\n", finding.better, finding.heads);
    }
    return text + "Intervals are of 95 %.\n";
}

std::string json_of(const std::vector<CorpusFinding>& findings) {
    Json list = Json::array();
    for (const CorpusFinding& finding : findings) {
        Json baselines = Json::array();
        for (const BaselineResult& baseline : finding.baselines) {
            baselines.push_back({{"name", baseline.name},
                                 {"rate", baseline.rate},
                                 {"head_minus_baseline", baseline.more},
                                 {"interval", to_json(baseline.interval)}});
        }
        list.push_back({{"rule", name_of(finding.query)},
                        {"sentences", finding.sentences},
                        {"questions", finding.questions},
                        {"kind", name_of(finding.site.kind)},
                        {"layer", finding.site.layer + 1},
                        {"head", finding.head},
                        {"chosen", to_json(finding.chosen)},
                        {"measured", to_json(finding.measured)},
                        {"baselines", std::move(baselines)},
                        {"heads", finding.heads},
                        {"better_heads", finding.better}});
    }
    return Json{{"findings", std::move(list)}}.dump(2) + "\n";
}

std::string text_of(const CorpusImportance& importance) {
    const bool bleu = importance.translated > 0;
    const Architecture family = importance.family;
    std::string text = fmt::format(
        "{} chose the order of the heads, {} measured: {:.4f} nats per token{}\n", counted(importance.choosing, "pair"),
        counted(importance.measuring, "pair"), importance.whole.nll,
        bleu ? fmt::format(", BLEU {:.1f} of {}", *importance.whole.bleu, counted(importance.translated, "sentence"))
             : "");
    const char* columns = bleu ? "     lost    BLEU" : "     lost";
    text += fmt::format("\n{:<30}{}  uniform{}\n", "layer off", columns, bleu ? "    BLEU" : "");
    for (std::size_t i = 0; i < importance.layers_off.size(); ++i) {
        const AblatedHeads& off = importance.layers_off[i];
        text += fmt::format("{:<30}{}{}\n", layer_label(family, off.site),
                            lost(off.score, importance.whole, importance.whole.bleu),
                            lost(importance.layers_uniform[i].score, importance.whole, importance.whole.bleu));
    }
    std::vector<AblatedHeads> heads = importance.heads;
    std::stable_sort(heads.begin(), heads.end(),
                     [](const AblatedHeads& a, const AblatedHeads& b) { return a.score.nll > b.score.nll; });
    text += fmt::format("\n{:<30}{}\n", "head off", columns);
    for (const AblatedHeads& one : heads) {
        text += fmt::format("{:<30}{}\n", fmt::format("{}, head {}", layer_label(family, one.site), one.head),
                            lost(one.score, importance.choosing_whole, importance.whole.bleu));
    }
    return text + curves_text(importance);
}

std::string json_of(const CorpusImportance& importance) {
    Json random = Json::array();
    for (const std::vector<PruningPoint>& curve : importance.pruned_at_random) {
        random.push_back(to_json(curve));
    }
    const Json out{{"pairs_that_choose", importance.choosing},
                   {"pairs_that_measure", importance.measuring},
                   {"left_out", importance.left_out},
                   {"sentences_of_bleu", importance.translated},
                   {"choosing_whole", to_json(importance.choosing_whole)},
                   {"whole", to_json(importance.whole)},
                   {"heads", to_json(importance.heads)},
                   {"layers_off", to_json(importance.layers_off)},
                   {"layers_uniform", to_json(importance.layers_uniform)},
                   {"pruned", to_json(importance.pruned)},
                   {"pruned_at_random", std::move(random)}};
    return out.dump(2) + "\n";
}

}  // namespace headscope
