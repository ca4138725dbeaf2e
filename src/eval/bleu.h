// Corpus BLEU (Papineni et al., 2002), equal to sacreBLEU's: orders 1 to 4, exponential smoothing (Chen and Cherry,
// 2014, method 3), by default of 13a tokens whose case counts. Paper 6.1.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headscope {

constexpr std::size_t kBleuOrder = 4;

// What a word is: what mteval-v13a makes of plain text, or what stands between spaces in text that is tokenised
// already.
enum class BleuTokens : std::uint8_t { Mteval13a, None };

struct BleuOptions {
    BleuTokens tokens = BleuTokens::Mteval13a;
    bool lowercase = false;  // both sides, before they are cut into tokens
};

struct BleuScore {
    double score = 0.0;                           // 0 to 100
    std::array<double, kBleuOrder> precisions{};  // per cent, smoothed
    std::array<std::int64_t, kBleuOrder> matches{};
    std::array<std::int64_t, kBleuOrder> totals{};
    double brevity_penalty = 0.0;
    std::int64_t system_length = 0, reference_length = 0;  // tokens; of several references the closest in length
    int references = 1;
    BleuOptions options;

    // "BLEU = 28.30 59.9/34.0/21.8/14.4 (BP = 1.000 ratio = 1.026 hyp_len = 62873 ref_len = 61287)"
    std::string to_string() const;
    // What the number means, in sacreBLEU's terms: "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp"
    std::string signature() const;
};

// One reference a sentence. Error, naming both numbers, when there are not as many.
BleuScore corpus_bleu(const std::vector<std::string>& translations, const std::vector<std::string>& references,
                      const BleuOptions& options = {});

// references[r][s]: several references a sentence, at least one.
BleuScore corpus_bleu(const std::vector<std::string>& translations,
                      const std::vector<std::vector<std::string>>& references, const BleuOptions& options = {});

// The tokens that mteval-v13a sees.
std::vector<std::string> tokenize_13a(std::string_view line);

}  // namespace headscope
