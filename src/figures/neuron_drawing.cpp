#include "figures/neuron_drawing.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "figures/layout.h"
#include "paint/text_width.h"
#include "support/check.h"

namespace headscope {

namespace {

constexpr double kTableGap = 1.2;
constexpr double kBlock = 25.6;  // width of d_k cells
constexpr double kNeuronRow = 1.7;
constexpr double kNeuronCell = 1.3;
constexpr double kNumber = 5.0;     // a column of numbers
constexpr double kWeight = 10.0;    // the longest bar of a weight
constexpr double kBars = 4.5;       // height of one row of bars below the table
constexpr double kBarNumber = 3.4;  // the number after a bar
// A weight that differs more than this from the softmax is shown separately.
constexpr double kEdited = 1e-4;
constexpr double kShownDigit = 0.005;

class Neurons {
public:
    Neurons(const NeuronView& view, const std::vector<std::string>& queries, const std::vector<std::string>& keys,
            const std::vector<float>& weights, int query, const NeuronOptions& options)
        : view_(view),
          queries_(queries),
          keys_(keys),
          weights_(weights),
          query_(query),
          options_(options),
          sketch_(options.look),
          ink_(options.look.ink) {
        HEADSCOPE_CHECK(static_cast<std::int64_t>(keys.size()) == view.keys && weights.size() == keys.size() &&
                            static_cast<std::int64_t>(queries.size()) == view.queries,
                        "a label for each query and key, a weight for each key");
        HEADSCOPE_CHECK(query >= 0 && query < view.queries && options.chosen < view.keys,
                        "query and key are in the view");
        softmax_ = softmax_row(view, query);
        double worst = 0.0;
        for (std::size_t key = 0; key < weights.size(); ++key) {
            worst = std::max(worst, std::abs(static_cast<double>(weights[key]) - softmax_[key]));
        }
        shows_used_ = worst > (view.edited ? kEdited : kShownDigit);
        double label = text_width(queries[static_cast<std::size_t>(query)]);
        for (const std::string& key : keys) {
            label = std::max(label, text_width(key));
        }
        cell_ = kBlock / static_cast<double>(view.d_k);

        left_ = snapped(kMargin + std::min(label, kLongestLabel) + 2.6);
        product_ = left_ + kBlock + kTableGap;
        sum_ = product_ + kBlock + kTableGap;
        scaled_ = sum_ + kNumber;
        weight_ = scaled_ + kNumber + 0.4;
        used_ = weight_ + kWeight + kBarNumber + kTableGap;
        end_ = (shows_used_ ? used_ : weight_) + kWeight + kBarNumber;
        // q and k share a scale; their products have another.
        for (std::int64_t d = 0; d < view.d_k; ++d) {
            largest_ = std::max(largest_, std::abs(q(d)));
            for (int key = 0; key < static_cast<int>(view.keys); ++key) {
                largest_ = std::max(largest_, std::abs(k(key, d)));
                largest_product_ = std::max(largest_product_, std::abs(q(d) * k(key, d)));
            }
        }
    }

    Drawing draw() {
        const std::string title =
            fmt::format("Layer {}, head {}: what \u201c{}\u201d asks of each key", view_.site.layer + 1, view_.head,
                        queries_[static_cast<std::size_t>(query_)]);
        sketch_.text({Role::Title}, ink_.text,
                     {kMargin, kMargin + 0.8 * kTitleSize, kTitleSize, Anchor::Start, false, false, title});
        double y = kMargin + 2.0 * kTitleSize;
        heads_of_columns(y);
        y += 0.6;
        query_row(y);
        y += kNeuronRow + 0.5;
        for (int key = 0; key < static_cast<int>(view_.keys); ++key) {
            key_row(key, y);
            y += kNeuronRow;
        }
        if (options_.chosen >= 0) {
            y = bars(y + 1.2);
        }
        legend(y + 0.6);
        right_ = std::max({right_, end_, kMargin + kTitleSize * text_width(title)});
        return sketch_.finish(
            right_ + kMargin, y + 0.6 + 1.2 + kMargin, title,
            fmt::format("For each key: k, q times k by dimension, their sum, {}, and the weight that softmax gives it.",
                        view_.by_distance.empty() ? "the sum times 1/sqrt(d_k)" : "the score made of it"));
    }

private:
    double q(std::int64_t d) const {
        return static_cast<double>(view_.q[static_cast<std::size_t>(query_ * view_.d_k + d)]);
    }
    double k(int key, std::int64_t d) const {
        return static_cast<double>(view_.k[static_cast<std::size_t>(key * view_.d_k + d)]);
    }

    void heading(double x, double y, const std::string& text, Anchor anchor = Anchor::Start) {
        sketch_.text({Role::Axis}, ink_.faint, {x, y, kSmall, anchor, false, false, text});
    }

    void heads_of_columns(double y) {
        heading(left_, y, fmt::format("q above, each key's k below ({} dimensions)", view_.d_k));
        heading(product_, y, "q \u00d7 k");
        heading(sum_ + kNumber - 0.4, y, "sum", Anchor::End);
        heading(scaled_ + kNumber - 0.4, y,
                view_.by_distance.empty() ? fmt::format("\u00d7 {:.3f}", view_.scale) : "score", Anchor::End);
        heading(weight_, y, "softmax");
        if (shows_used_) {
            heading(used_, y, used_name());
        }
    }

    const char* used_name() const { return view_.edited ? "edited" : "the model's"; }

    void label(double y, Role role, int index, const std::string& text, const char* symbol) {
        Mark mark{role, view_.head};
        (role == Role::QueryLabel ? mark.query : mark.key) = index;
        sketch_.text(mark, ink_.text,
                     {left_ - 1.9, y + kNeuronCell / 2.0 + kBaseline, 1.0, Anchor::End, false, role == Role::QueryLabel,
                      shortened(text, kLongestLabel)});
        heading(left_ - 0.4, y + kNeuronCell / 2.0 + kBaseline * kSmall, symbol, Anchor::End);
    }

    template <class Value>
    void cells(double x, double y, int key, double largest, const char* name, Value value) {
        for (std::int64_t d = 0; d < view_.d_k; ++d) {
            Mark mark{Role::Cell, view_.head, query_, key};
            mark.layer = view_.site.layer + 1;
            mark.item = static_cast<int>(d);
            if (sketch_.tips()) {
                mark.tip = fmt::format("{}, dimension {}: {:.4f}", name, d + 1, value(d));
            }
            sketch_.rect(std::move(mark), diverging_colour(largest > 0.0 ? value(d) / largest : 0.0, ink_),
                         {x + static_cast<double>(d) * cell_, y, cell_, kNeuronCell});
        }
        sketch_.rect({Role::Frame}, ink_.rule, {x, y, kBlock, kNeuronCell, 0.0, 0.1});
    }

    void query_row(double y) {
        label(y, Role::QueryLabel, query_, queries_[static_cast<std::size_t>(query_)], "q");
        cells(left_, y, -1, largest_, "q", [&](std::int64_t d) { return q(d); });
    }

    void key_row(int key, double y) {
        const auto index = static_cast<std::size_t>(key);
        if (key == options_.chosen) {
            sketch_.rect({Role::ChosenWord, view_.head, -1, key}, ink_.chosen,
                         {kMargin - 0.3, y - 0.2, end_ + 0.6 - kMargin, kNeuronRow});
        }
        label(y, Role::KeyLabel, key, keys_[index], "k");
        cells(left_, y, key, largest_, "k", [&](std::int64_t d) { return k(key, d); });
        cells(product_, y, key, largest_product_, "q \u00d7 k", [&](std::int64_t d) { return q(d) * k(key, d); });
        const double dot = dot_product(view_, query_, key);
        const double line = y + kNeuronCell / 2.0 + kBaseline;
        const bool seen = is_visible(view_, query_, key);
        Mark mark{Role::Value, view_.head, query_, key};
        sketch_.text(mark, ink_.text,
                     {sum_ + kNumber - 0.4, line, 1.0, Anchor::End, false, false, fmt::format("{:.2f}", dot)});
        sketch_.text(mark, seen ? ink_.text : ink_.faint,
                     {scaled_ + kNumber - 0.4, line, 1.0, Anchor::End, false, false,
                      seen ? fmt::format("{:.2f}", score(view_, query_, key)) : "masked"});
        weight_bar(mark, weight_, y, softmax_[index]);
        if (shows_used_) {
            weight_bar(mark, used_, y, static_cast<double>(weights_[index]));
        }
    }

    void weight_bar(Mark mark, double x, double y, double weight) {
        mark.role = Role::Bar;
        const double length = std::clamp(weight, 0.0, 1.0) * kWeight;
        sketch_.rect(mark, head_colour(options_.palette, view_.head, ink_), {x, y, length, kNeuronCell});
        mark.role = Role::Value;
        sketch_.text(mark, ink_.text,
                     {x + length + 0.4, y + kNeuronCell / 2.0 + kBaseline, 1.0, Anchor::Start, false, false,
                      fmt::format("{:.2f}", weight)});
    }

    // q, k and q * k of the chosen key as bars, one per dimension. Returns their bottom edge.
    double bars(double y) {
        const int key = options_.chosen;
        const std::string& name = keys_[static_cast<std::size_t>(key)];
        const double width = (2.0 * kBlock + kTableGap) / static_cast<double>(view_.d_k);
        const auto row = [&](const std::string& text, double largest, auto value) {
            const double zero = y + kBars / 2.0;
            heading(left_ - 0.4, zero + kBaseline * kSmall, text, Anchor::End);
            for (std::int64_t d = 0; d < view_.d_k; ++d) {
                const double height = largest > 0.0 ? value(d) / largest * (kBars / 2.0 - 0.2) : 0.0;
                Mark mark{Role::Bar, view_.head, query_, key};
                mark.item = static_cast<int>(d);
                if (sketch_.tips()) {
                    mark.tip = fmt::format("{}, dimension {}: {:.4f}", text, d + 1, value(d));
                }
                sketch_.rect(std::move(mark), diverging_colour(height < 0.0 ? -0.8 : 0.8, ink_),
                             {left_ + static_cast<double>(d) * width, std::min(zero, zero - height), 0.8 * width,
                              std::max(std::abs(height), 0.02)});
            }
            sketch_.line({Role::Axis}, ink_.off, {left_, zero, left_ + 2.0 * kBlock + kTableGap, zero, 0.06});
            y += kBars;
        };
        row("q", largest_, [&](std::int64_t d) { return q(d); });
        row("k", largest_, [&](std::int64_t d) { return k(key, d); });
        row("q \u00d7 k", largest_product_, [&](std::int64_t d) { return q(d) * k(key, d); });
        const double dot = dot_product(view_, query_, key);
        const double result = score(view_, query_, key);
        std::string note = fmt::format("\u201c{}\u201d: the products add up to {:.3f}; ", name, dot);
        note += view_.by_distance.empty()
                    ? fmt::format("times 1/\u221a{} = {:.3f} that is {:.3f}; ", view_.d_k, view_.scale, result)
                    : fmt::format("with the number for the distance {} the score is {:.3f}; ", key - query_, result);
        note += is_visible(view_, query_, key) ? fmt::format("softmax over the keys that are seen makes it {:.3f}.",
                                                             softmax_[static_cast<std::size_t>(key)])
                                               : "the mask hides the key.";
        if (shows_used_) {
            note += fmt::format(" Used instead, {}: {:.3f}.", used_name(), weights_[static_cast<std::size_t>(key)]);
        }
        sketch_.text({Role::Note}, ink_.text, {left_, y + 0.9, 1.0, Anchor::Start, false, false, note});
        right_ = std::max(right_, left_ + text_width(note));
        return y + 1.6;
    }

    void legend(double y) {
        constexpr int kSteps = 24;
        const double width = 8.0;
        const auto scale = [&](double x, double largest, const char* name) {
            const std::string low = fmt::format("{} \u2212{:.2g}", name, largest);
            sketch_.text({Role::Legend}, ink_.faint, {x, y + 0.75, kSmall, Anchor::Start, false, false, low});
            const double from = x + kSmall * text_width(low) + 0.4;
            for (int step = 0; step < kSteps; ++step) {
                sketch_.rect({Role::Legend}, diverging_colour(-1.0 + 2.0 * (step + 0.5) / kSteps, ink_),
                             {from + width * step / kSteps, y, width / kSteps, 0.9});
            }
            sketch_.text(
                {Role::Legend}, ink_.faint,
                {from + width + 0.4, y + 0.75, kSmall, Anchor::Start, false, false, fmt::format("{:.2g}", largest)});
        };
        scale(left_, largest_, "q, k");
        scale(std::max(product_, left_ + 18.0), largest_product_, "q \u00d7 k");
    }

    const NeuronView& view_;
    const std::vector<std::string>& queries_;
    const std::vector<std::string>& keys_;
    const std::vector<float>& weights_;
    int query_;
    const NeuronOptions& options_;
    Sketch sketch_;
    const Ink& ink_;
    double cell_ = 0.0;
    double left_ = 0.0, product_ = 0.0, sum_ = 0.0, scaled_ = 0.0, weight_ = 0.0;
    double used_ = 0.0;  // x of the weights that the model used, if shown separately
    double end_ = 0.0;   // right edge of a key's row
    bool shows_used_ = false;
    std::vector<double> softmax_;
    double right_ = 0.0;
    double largest_ = 0.0;
    double largest_product_ = 0.0;
};

}  // namespace

double dot_product(const NeuronView& view, int query, int key) {
    double sum = 0.0;
    for (std::int64_t d = 0; d < view.d_k; ++d) {
        sum += static_cast<double>(view.q[static_cast<std::size_t>(query * view.d_k + d)]) *
               static_cast<double>(view.k[static_cast<std::size_t>(key * view.d_k + d)]);
    }
    return sum;
}

double score(const NeuronView& view, int query, int key) {
    const double scaled = dot_product(view, query, key) * static_cast<double>(view.scale);
    if (view.by_distance.empty()) {
        return scaled;
    }
    const auto farthest = static_cast<int>(view.by_distance.size() / 2);
    const int distance = std::clamp(key - query, -farthest, farthest);
    return scaled + static_cast<double>(view.by_distance[static_cast<std::size_t>(distance + farthest)]);
}

bool is_visible(const NeuronView& view, int query, int key) {
    return key < view.keys - view.pads && !(view.causal && key > query);
}

std::vector<double> softmax_row(const NeuronView& view, int query) {
    std::vector<double> row(static_cast<std::size_t>(view.keys), 0.0);
    double largest = -std::numeric_limits<double>::infinity();
    for (int key = 0; key < static_cast<int>(view.keys); ++key) {
        row[static_cast<std::size_t>(key)] = score(view, query, key);
        if (is_visible(view, query, key)) {
            largest = std::max(largest, row[static_cast<std::size_t>(key)]);
        }
    }
    double total = 0.0;
    for (int key = 0; key < static_cast<int>(view.keys); ++key) {
        double& value = row[static_cast<std::size_t>(key)];
        value = is_visible(view, query, key) ? std::exp(value - largest) : 0.0;
        total += value;
    }
    for (double& value : row) {
        value = total > 0.0 ? value / total : 0.0;
    }
    return row;
}

Drawing draw_neurons(const NeuronView& view, const std::vector<std::string>& queries,
                     const std::vector<std::string>& keys, const std::vector<float>& weights, int query,
                     const NeuronOptions& options) {
    return Neurons(view, queries, keys, weights, query, options).draw();
}

}  // namespace headscope
