// Values of a configuration chosen on development data, as the paper chose dropout, beam and length penalty (6.1):
// every combination, or some of them at random.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "experiment/study.h"

namespace headscope {

// "training.residual_dropout=0.1,0.2". Keys joined by "+" get the same value. "decoding.beam" and
// "decoding.length_penalty" need no further training.
struct SweepAxis {
    std::vector<std::string> keys;
    std::vector<nlohmann::json> values;

    // Error for a text of another form.
    static SweepAxis parse(const std::string& text);
    bool decodes() const;
};

class Sweep final : public Trainings {
public:
    enum class Order : std::uint8_t { Bleu, Perplexity, F1 };
    // A training for each combination of the keys that need one; its folder has their values in its name. `random`:
    // only that many of them, drawn without repetition from `seed`; 0: all. Error, naming the key, if `base` does not
    // take one of the values, and for a key that is named twice.
    Sweep(nlohmann::json base, std::vector<SweepAxis> axes, std::size_t random, std::uint64_t seed,
          Order order = Order::Bleu);

    // A row for each trial with a result and each decoding, best first. Its problem names models that lack what the
    // order needs.
    StudyReport report(const Experiment& experiment, const std::vector<TrialProblem>& problems) override;

private:
    struct Row;
    // The last parts of its first key that no other axis ends with: "residual_dropout".
    std::string name_of(const SweepAxis& axis) const;
    void check_values() const;
    void add_trial(std::size_t number);
    std::vector<Decoding> decodings() const;
    std::vector<Row> rows(const Experiment& experiment) const;
    std::vector<Column<Row>> columns(bool parses) const;

    nlohmann::json base_;
    std::vector<SweepAxis> trained_, decoded_;
    Order order_;
    std::vector<std::vector<std::string>> values_;  // of each trial, by trained axis
};

}  // namespace headscope
