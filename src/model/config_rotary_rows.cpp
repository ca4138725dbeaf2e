// The rows of the model's keys for rotary positions, and what several rows need.
#include <cmath>

#include "model/config_rows.h"

namespace headscope {

namespace {

using Config = ModelConfig;
using Need = Needs<Config>;

bool scales_by_speed(const Config& config) {
    return config.positions.rotary.kind == Rotary::Yarn || config.positions.rotary.kind == Rotary::Llama3;
}

const Need kRotary = {"`positions.rotary.kind` is not `\"none\"`",
                      [](const Config& c) { return c.positions.rotary.kind != Rotary::None; }};
const Need kScaledRotary = {"`positions.rotary.kind` is `\"linear\"`, `\"ntk\"`, `\"yarn\"` or `\"llama3\"`",
                            [](const Config& c) {
                                const Rotary kind = c.positions.rotary.kind;
                                return kind == Rotary::Linear || kind == Rotary::Ntk || scales_by_speed(c);
                            }};
const Need kScaledBySpeed = {"`positions.rotary.kind` is `\"yarn\"` or `\"llama3\"`", scales_by_speed};
const Need kRotaryFactors = {"`positions.rotary.kind` is `\"factors\"`",
                             [](const Config& c) { return c.positions.rotary.kind == Rotary::Factors; }};

// A member of positions.rotary.
template <class Value>
auto rotary(Value RotaryConfig::*member) {
    return at(&Config::positions, &PositionsConfig::rotary, member);
}

}  // namespace

const Need& needs_restricted() {
    static const Need need = {"`mixer.encoder` or `mixer.decoder` is `\"restricted\"`", [](const Config& c) {
                                  return c.mixer.encoder == MixerKind::Restricted ||
                                         c.mixer.decoder == MixerKind::Restricted;
                              }};
    return need;
}

const Need& needs_all_to_attend() {
    static const Need need = {"all mixers are `\"self_attention\"` or `\"restricted\"`", [](const Config& c) {
                                  return (!has_encoder(c) || attends(c, AttentionKind::EncoderSelf)) &&
                                         (!has_decoder(c) || attends(c, AttentionKind::DecoderSelf));
                              }};
    return need;
}

ConfigFields<Config> rotary_fields() {
    return {
        choice_field(
            "positions.rotary.kind", rotary(&RotaryConfig::kind),
            {{"none", Rotary::None},
             {"plain", Rotary::Plain},
             {"linear", Rotary::Linear},
             {"ntk", Rotary::Ntk},
             {"yarn", Rotary::Yarn},
             {"llama3", Rotary::Llama3},
             {"factors", Rotary::Factors}},
            "self-attention turns queries and keys by their positions (Su et al., 2021): pair k of n columns by "
            "position base^(-2k/n). To read longer texts than in training, the others turn them more slowly: "
            "`\"linear\"` all pairs, `\"ntk\"` with a larger base, `\"yarn\"` (Peng et al., 2023) and "
            "`\"llama3\"` (Llama 3.1) slow pairs alone, `\"factors\"` each by its own factor")
            .only_if(needs_all_to_attend()),
        number_field("positions.rotary.base", rotary(&RotaryConfig::base), 1.0, 1e12, "base of the wavelengths")
            .only_if(kRotary),
        integer_field("positions.rotary.columns", rotary(&RotaryConfig::columns), 0, kMaxSide,
                      "the first columns of a head, which are turned (GPT-NeoX turns a quarter); even; 0: d_k")
            .only_if(kRotary),
        choice_field("positions.rotary.pairs", rotary(&RotaryConfig::pairs),
                     {{"halves", RotaryPairs::Halves}, {"neighbours", RotaryPairs::Neighbours}},
                     "which columns turn together: k and n/2 + k, or 2k and 2k + 1 (GPT-J)")
            .only_if(kRotary),
        number_field("positions.rotary.factor", rotary(&RotaryConfig::factor), 1.0, 1e6,
                     "how much more slowly pairs turn; of `\"ntk\"` the slowest pair")
            .only_if(kScaledRotary),
        integer_field("positions.rotary.original_length", rotary(&RotaryConfig::original_length), 1, kMaxLength,
                      "max_length before it was extended")
            .only_if(kScaledBySpeed),
        number_field("positions.rotary.low", rotary(&RotaryConfig::low), 1e-3, 1e6,
                     "pairs that turn fewer times than this within original_length are slowed by all of the factor")
            .only_if(kScaledBySpeed),
        number_field("positions.rotary.high", rotary(&RotaryConfig::high), 1e-3, 1e6,
                     "pairs that turn more often than this are not; those between are in part, by their number "
                     "(`\"yarn\"`) or their turns (`\"llama3\"`)")
            .by_default("32, `\"llama3\"` 4",
                        [](ConfigReader&, Config& config) {
                            RotaryConfig& own = config.positions.rotary;
                            own.high = own.kind == Rotary::Llama3 ? 4.0 : 32.0;
                        })
            .only_if(kScaledBySpeed),
        number_field("positions.rotary.magnitude", rotary(&RotaryConfig::magnitude), 1e-3, 1e3,
                     "what turned columns are multiplied by")
            .by_default("1, `\"yarn\"` 0.1 ln(factor) + 1",
                        [](ConfigReader&, Config& config) {
                            RotaryConfig& own = config.positions.rotary;
                            own.magnitude = own.kind == Rotary::Yarn ? 0.1 * std::log(own.factor) + 1.0 : 1.0;
                        })
            .only_if(kRotary),
        numbers_field("positions.rotary.factors", rotary(&RotaryConfig::factors), 1e-6, 1e6,
                      "how much more slowly each pair turns")
            .only_if(kRotaryFactors),
        numbers_field("positions.rotary.pattern", rotary(&RotaryConfig::pattern), 0, 1,
                      "repeated over the layers of a stack: 1 for a layer that turns queries and keys, 0 for one that "
                      "does not (SmolLM3); `[]`: all do")
            .only_if(kRotary),
        number_field("positions.rotary.window_base", rotary(&RotaryConfig::window_base), 0.0, 1e12,
                     "base of the layers with a window, which turn as `\"plain\"` ones (Gemma 3); 0: they turn as the "
                     "others")
            .only_if(needs_restricted())
            .only_if(kRotary),
    };
}

}  // namespace headscope
