#include "train/gradient_watch.h"

#include <algorithm>
#include <cmath>

#include "backend/ops/elementwise.h"
#include "backend/ops/optimizer.h"
#include "support/check.h"

namespace headscope {

namespace {

// "encoder.layers.0.self_attention" for everything in that sublayer, otherwise the name without its last word.
std::string layer_of(const std::string& name) {
    const std::size_t layers = name.find(".layers.");
    if (layers == std::string::npos) {
        return name.substr(0, name.rfind('.'));
    }
    constexpr int kComponents = 3;  // "layers", its number, the sublayer
    std::size_t end = layers;
    for (int i = 0; i < kComponents; ++i) {
        end = name.find('.', end + 1);
    }
    return name.substr(0, end);
}

}  // namespace

GradientWatch::GradientWatch(Backend& backend, const Parameters& parameters, const ShardedSum* sum)
    : backend_(backend), parameters_(parameters), of_shards_(sum != nullptr) {
    for (const ParameterSpec& spec : parameters.table()) {
        // Master weights and gradients have the same layout.
        const std::int64_t begin = parameters.stored(spec.name).offset - parameters.flat_values().offset;
        const std::int64_t end = begin + spec.shape.elements();
        for (int number = 0; number < (of_shards_ ? ShardedSum::kRanges : 1); ++number) {
            const FlatRange range = of_shards_ ? sum->range(number) : FlatRange{0, parameters.total()};
            const std::int64_t from = std::max(begin, range.begin);
            const std::int64_t to = std::min(end, range.begin + range.elements);
            if (from < to) {
                parts_.push_back({spec.name, layer_of(spec.name), from, to - from, number});
            }
        }
    }
    HEADSCOPE_CHECK(
        std::is_sorted(parts_.begin(), parts_.end(), [](const Part& a, const Part& b) { return a.begin < b.begin; }),
        "the table of parameters must be in the order of the flat buffer");
    squares_ = backend.empty({static_cast<std::int64_t>(parts_.size())}, backend.full_dtype());
    backend.run(Fill{.out = squares_});  // entries that no pass writes
}

void GradientWatch::final_gradient(const Var& parameter) {
    const Tensor gradient = parameter.gradient();
    const Tensor& flat = parameters_.flat_gradients();
    HEADSCOPE_CHECK(gradient.buffer == flat.buffer, parameter.name() + " is not one of the watched parameters");
    const std::int64_t begin = gradient.offset - flat.offset;
    const std::int64_t end = begin + gradient.elements();
    auto part = std::lower_bound(parts_.begin(), parts_.end(), begin,
                                 [](const Part& a, std::int64_t at) { return a.begin < at; });
    for (; part != parts_.end() && part->begin < end; ++part) {
        const auto index = static_cast<std::size_t>(part - parts_.begin());
        if (!of_shards_) {
            square(index);
        }
        order_.push_back(index);
    }
}

void GradientWatch::square(std::size_t index) {
    const Part& part = parts_[index];
    backend_.run(SquareSum{.x = parameters_.flat_gradients().narrow(0, part.begin, part.elements),
                           .out = squares_.narrow(0, static_cast<std::int64_t>(index), 1)});
}

void GradientWatch::measure(const ShardRange& ranges) {
    for (std::size_t index = 0; index < parts_.size(); ++index) {
        if (ranges.contains(parts_[index].range)) {
            square(index);
        }
    }
}

std::map<std::string, double> GradientWatch::norms(const std::vector<double>& squares, double divisor) const {
    std::map<std::string, double> sums;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        sums[parts_[i].layer] += squares.at(i);
    }
    for (auto& [layer, sum] : sums) {
        sum = std::sqrt(sum) / divisor;
    }
    return sums;
}

std::string GradientWatch::first_not_finite(const std::vector<double>& squares) const {
    const auto found = std::find_if(order_.begin(), order_.end(),
                                    [&](std::size_t index) { return !std::isfinite(squares.at(index)); });
    return found == order_.end() ? "" : parts_[*found].name;
}

}  // namespace headscope
