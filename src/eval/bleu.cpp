#include "eval/bleu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <unordered_map>

#include "eval/line_counts.h"
#include "eval/white_space.h"
#include "support/check.h"
#include "text/case.h"

namespace headscope {

namespace {

using Counts = std::array<std::unordered_map<std::string, std::int64_t>, kBleuOrder>;

// Counts the n-grams of 1 to 4 words. Words contain no space, so joining with a space is unambiguous.
Counts count_ngrams(const std::vector<std::string>& words) {
    Counts counts;
    for (std::size_t first = 0; first < words.size(); ++first) {
        std::string ngram;
        for (std::size_t order = 0; order < kBleuOrder && first + order < words.size(); ++order) {
            ngram += (order == 0 ? "" : " ") + words[first + order];
            ++counts[order][ngram];
        }
    }
    return counts;
}

std::vector<std::string> words_of(const std::string& line, const BleuOptions& options) {
    const std::string text = options.lowercase ? lower_case(line) : line;
    std::vector<std::string> words = options.tokens == BleuTokens::None ? split_words(text) : tokenize_13a(text);
    return options.split_compounds ? split_compounds(words) : words;
}

// Adds one sentence and its references to the sums.
void add_sentence(BleuScore& sums, const std::string& translation, const std::vector<const std::string*>& references) {
    const std::vector<std::string> words = words_of(translation, sums.options);
    const auto length = static_cast<std::int64_t>(words.size());
    Counts allowed;  // the largest count of every n-gram in any reference
    std::int64_t closest = 0;
    for (std::size_t reference = 0; reference < references.size(); ++reference) {
        const std::vector<std::string> reference_words = words_of(*references[reference], sums.options);
        const auto candidate = static_cast<std::int64_t>(reference_words.size());
        const std::int64_t nearer = std::abs(candidate - length) - std::abs(closest - length);
        if (reference == 0 || nearer < 0 || (nearer == 0 && candidate < closest)) {
            closest = candidate;
        }
        const Counts counts = count_ngrams(reference_words);
        for (std::size_t order = 0; order < kBleuOrder; ++order) {
            for (const auto& [ngram, count] : counts[order]) {
                std::int64_t& most = allowed[order][ngram];
                most = std::max(most, count);
            }
        }
    }
    sums.system_length += length;
    sums.reference_length += closest;
    const Counts counts = count_ngrams(words);
    for (std::size_t order = 0; order < kBleuOrder; ++order) {
        for (const auto& [ngram, count] : counts[order]) {
            sums.totals[order] += count;
            const auto found = allowed[order].find(ngram);
            sums.matches[order] += found == allowed[order].end() ? 0 : std::min(count, found->second);
        }
    }
}

// Computes the score: the brevity penalty times the geometric mean of the precisions, of all orders or of those that
// the translations have.
enum class Orders : bool { All, Found };
void finish(BleuScore& bleu, Orders orders) {
    bleu.brevity_penalty = 1.0;
    if (bleu.system_length < bleu.reference_length) {
        bleu.brevity_penalty =
            bleu.system_length == 0
                ? 0.0
                : std::exp(1.0 - static_cast<double>(bleu.reference_length) / static_cast<double>(bleu.system_length));
    }
    if (std::all_of(bleu.matches.begin(), bleu.matches.end(), [](std::int64_t count) { return count == 0; })) {
        return;  // no match at all gives 0, without smoothing
    }
    double halved = 1.0;  // exponential smoothing: each order without a match counts half as much as the previous one
    double log_sum = 0.0;
    std::size_t order = 0;
    for (; order < kBleuOrder && bleu.totals[order] > 0; ++order) {
        const auto total = static_cast<double>(bleu.totals[order]);
        if (bleu.matches[order] == 0) {
            halved *= 2.0;
            bleu.precisions[order] = 100.0 / (halved * total);
        } else {
            bleu.precisions[order] = 100.0 * static_cast<double>(bleu.matches[order]) / total;
        }
        log_sum += std::log(bleu.precisions[order]);
    }
    if (order < kBleuOrder && orders == Orders::All) {
        return;  // translations shorter than an order have no BLEU
    }
    bleu.score = bleu.brevity_penalty * std::exp(log_sum / static_cast<double>(order));
}

}  // namespace

BleuScore corpus_bleu(const std::vector<std::string>& translations, const std::vector<std::string>& references,
                      const BleuOptions& options) {
    return corpus_bleu(translations, std::vector<std::vector<std::string>>{references}, options);
}

BleuScore corpus_bleu(const std::vector<std::string>& translations,
                      const std::vector<std::vector<std::string>>& references, const BleuOptions& options) {
    HEADSCOPE_CHECK(!references.empty(), "BLEU needs a reference");
    check_line_counts(translations, references);
    BleuScore bleu;
    bleu.options = options;
    bleu.references = static_cast<int>(references.size());
    for (std::size_t sentence = 0; sentence < translations.size(); ++sentence) {
        std::vector<const std::string*> of_sentence;
        of_sentence.reserve(references.size());
        for (const std::vector<std::string>& reference : references) {
            of_sentence.push_back(&reference[sentence]);
        }
        add_sentence(bleu, translations[sentence], of_sentence);
    }
    finish(bleu, Orders::All);
    return bleu;
}

double sentence_bleu(const std::string& translation, const std::string& reference) {
    BleuScore bleu;
    add_sentence(bleu, translation, {&reference});
    finish(bleu, Orders::Found);
    return bleu.score;
}

std::string BleuScore::to_string() const {
    const double ratio =
        reference_length == 0 ? 0.0 : static_cast<double>(system_length) / static_cast<double>(reference_length);
    return fmt::format(
        "BLEU = {:.2f} {:.1f}/{:.1f}/{:.1f}/{:.1f} (BP = {:.3f} ratio = {:.3f} hyp_len = {} ref_len = {})", score,
        precisions[0], precisions[1], precisions[2], precisions[3], brevity_penalty, ratio, system_length,
        reference_length);
}

std::string BleuScore::signature() const {
    return fmt::format("nrefs:{}|case:{}|eff:no|tok:{}|smooth:exp{}", references, options.lowercase ? "lc" : "mixed",
                       options.tokens == BleuTokens::None ? "none" : "13a",
                       options.split_compounds ? "|compounds:split" : "");
}

}  // namespace headscope
