// Corpus BLEU (Papineni et al., 2002), equal to sacreBLEU's: orders 1 to 4, exponential smoothing (Chen and Cherry,
// 2014, method 3), by default case-sensitive with 13a tokens. Paper 6.1.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headscope {

constexpr std::size_t kBleuOrder = 4;

// Tokenization: mteval-v13a for plain text, or splitting at white space for tokenized text.
enum class BleuTokens : std::uint8_t { Mteval13a, None };

struct BleuOptions {
    BleuTokens tokens = BleuTokens::Mteval13a;
    bool lowercase = false;  // both sides, before tokenization
    // "rich-text" counts as the three tokens "rich ##AT##-##AT## text", as the paper's scores do: the rule of
    // tensor2tensor's get_ende_bleu.sh, which it applies to Moses tokens.
    bool split_compounds = false;
};

struct BleuScore {
    double score = 0.0;                           // 0 to 100
    std::array<double, kBleuOrder> precisions{};  // per cent, smoothed
    std::array<std::int64_t, kBleuOrder> matches{};
    std::array<std::int64_t, kBleuOrder> totals{};
    double brevity_penalty = 0.0;
    std::int64_t system_length = 0, reference_length = 0;  // tokens; of several references the one closest in length
    int references = 1;
    BleuOptions options;

    // "BLEU = 28.30 59.9/34.0/21.8/14.4 (BP = 1.000 ratio = 1.026 hyp_len = 62873 ref_len = 61287)"
    std::string to_string() const;
    // The settings in sacreBLEU's notation: "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp", and with split compounds,
    // which sacreBLEU lacks,
    // "|compounds:split"
    std::string signature() const;
};

// One reference per sentence. Error with both numbers if the line counts differ.
BleuScore corpus_bleu(const std::vector<std::string>& translations, const std::vector<std::string>& references,
                      const BleuOptions& options = {});

// references[r][s]: one or more references per sentence.
BleuScore corpus_bleu(const std::vector<std::string>& translations,
                      const std::vector<std::vector<std::string>>& references, const BleuOptions& options = {});

// Of one sentence, 0 to 100, with 13a tokens, as sacreBLEU's sentence_bleu(): orders of which the translation has no
// n-gram do not count.
double sentence_bleu(const std::string& translation, const std::string& reference);

// The tokens of BleuOptions::split_compounds. Bytes work as characters. Matches do not overlap, so of "a-b-c" only the
// first hyphen is split, as in Perl's s{(\S)-(\S)}{$1 ##AT##-##AT## $2}g.
std::vector<std::string> split_compounds(const std::vector<std::string>& tokens);

// Tokenizes as mteval-v13a does.
std::vector<std::string> tokenize_13a(std::string_view line);

}  // namespace headscope
