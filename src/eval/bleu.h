// Corpus BLEU (Papineni et al., 2002), equal to sacreBLEU's default: 13a tokens, case kept, orders 1 to 4, exponential
// smoothing (Chen and Cherry, 2014, method 3). Paper 6.1.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headscope {

constexpr std::size_t kBleuOrder = 4;

struct BleuScore {
    double score = 0.0;                           // 0 to 100
    std::array<double, kBleuOrder> precisions{};  // per cent, smoothed
    std::array<std::int64_t, kBleuOrder> matches{};
    std::array<std::int64_t, kBleuOrder> totals{};
    double brevity_penalty = 0.0;
    std::int64_t system_length = 0, reference_length = 0;  // tokens; of several references the closest in length
    int references = 1;

    // "BLEU = 28.30 59.9/34.0/21.8/14.4 (BP = 1.000 ratio = 1.026 hyp_len = 62873 ref_len = 61287)"
    std::string to_string() const;
    // What the number means, in sacreBLEU's terms: "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp"
    std::string signature() const;
};

// One reference a sentence. Error, naming both numbers, when there are not as many.
BleuScore corpus_bleu(const std::vector<std::string>& translations, const std::vector<std::string>& references);

// references[r][s]: several references a sentence, at least one.
BleuScore corpus_bleu(const std::vector<std::string>& translations,
                      const std::vector<std::vector<std::string>>& references);

// The tokens that mteval-v13a sees.
std::vector<std::string> tokenize_13a(std::string_view line);

}  // namespace headscope
