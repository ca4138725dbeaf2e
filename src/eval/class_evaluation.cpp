#include "eval/class_evaluation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "support/check.h"

namespace headscope {

namespace {

double share(std::int64_t part, std::int64_t all) {
    return all == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(all);
}

// Of a class that so many texts have and so many got, with those that are both.
ClassEvaluation::OfClass shares_of(std::int64_t texts, std::int64_t given, std::int64_t right) {
    return {.texts = texts,
            .precision = share(right, given),
            .recall = share(right, texts),
            .f1 = share(2 * right, given + texts)};
}

std::optional<double> correlation(const std::vector<double>& a, const std::vector<double>& b) {
    const auto mean = [](const std::vector<double>& values) {
        return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    };
    const auto vary = [](const std::vector<double>& values) {
        return std::ranges::adjacent_find(values, std::ranges::not_equal_to()) != values.end();
    };
    if (!vary(a) || !vary(b)) {
        return std::nullopt;
    }
    const double mean_a = mean(a);
    const double mean_b = mean(b);
    double both = 0.0, of_a = 0.0, of_b = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        both += (a[i] - mean_a) * (b[i] - mean_b);
        of_a += (a[i] - mean_a) * (a[i] - mean_a);
        of_b += (b[i] - mean_b) * (b[i] - mean_b);
    }
    return both / std::sqrt(of_a * of_b);
}

std::vector<double> ranks_of(const std::vector<double>& values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
    std::vector<double> ranks(values.size());
    for (std::size_t first = 0; first < order.size();) {
        std::size_t last = first;
        while (last + 1 < order.size() && values[order[last + 1]] == values[order[first]]) {
            ++last;
        }
        for (std::size_t i = first; i <= last; ++i) {
            ranks[order[i]] = 0.5 * static_cast<double>(first + last);
        }
        first = last + 1;
    }
    return ranks;
}

}  // namespace

void ClassEvaluation::add(const std::vector<double>& probabilities, std::size_t label) {
    HEADSCOPE_CHECK(probabilities.size() == counts_.size() && label < counts_.size(), "each class has a probability");
    const auto best = std::ranges::max_element(probabilities);
    const auto chosen = static_cast<std::size_t>(best - probabilities.begin());
    choices_.add({.log_probability = std::log(probabilities[label]),
                  .best_log_probability = std::log(*best),
                  .likeliest = chosen == label});
    ++counts_[label][chosen];
}

ClassEvaluation::OfClass ClassEvaluation::of_class(std::size_t label) const {
    std::int64_t given = 0;
    for (const std::vector<std::int64_t>& row : counts_) {
        given += row[label];
    }
    const std::int64_t right = counts_[label][label];
    const std::int64_t texts = std::accumulate(counts_[label].begin(), counts_[label].end(), std::int64_t{0});
    return shares_of(texts, given, right);
}

double ClassEvaluation::macro_f1() const {
    double sum = 0.0;
    std::int64_t classes = 0;
    for (std::size_t label = 0; label < counts_.size(); ++label) {
        const bool given = std::ranges::any_of(counts_, [&](const auto& row) { return row[label] > 0; });
        const OfClass of = of_class(label);
        if (of.texts > 0 || given) {
            sum += of.f1;
            ++classes;
        }
    }
    return classes == 0 ? 0.0 : sum / static_cast<double>(classes);
}

void LabelsEvaluation::add(const std::vector<double>& scores, const std::vector<float>& wanted) {
    HEADSCOPE_CHECK(scores.size() == counts_.size() && wanted.size() == counts_.size(), "each class has a score");
    bool exact = true;
    for (std::size_t i = 0; i < scores.size(); ++i) {
        if (!std::isfinite(scores[i])) {
            throw Error(fmt::format("the model gives a class the score {}: its weights are damaged", scores[i]));
        }
        const bool has = wanted[i] > 0.0F;
        const bool given = scores[i] >= 0.0;
        const double margin = has ? scores[i] : -scores[i];
        nll_sum_ += std::max(-margin, 0.0) + std::log1p(std::exp(-std::abs(margin)));
        counts_[i].texts += has ? 1 : 0;
        counts_[i].given += given ? 1 : 0;
        counts_[i].right += has && given ? 1 : 0;
        exact = exact && has == given;
    }
    ++texts_;
    exact_ += exact ? 1 : 0;
}

ClassEvaluation::OfClass LabelsEvaluation::of_class(std::size_t label) const {
    return shares_of(counts_[label].texts, counts_[label].given, counts_[label].right);
}

double LabelsEvaluation::micro_f1() const {
    Counts all;
    for (const Counts& one : counts_) {
        all = {all.texts + one.texts, all.given + one.given, all.right + one.right};
    }
    return shares_of(all.texts, all.given, all.right).f1;
}

double LabelsEvaluation::macro_f1() const {
    double sum = 0.0;
    for (std::size_t label = 0; label < counts_.size(); ++label) {
        sum += of_class(label).f1;
    }
    return counts_.empty() ? 0.0 : sum / static_cast<double>(counts_.size());
}

double LabelsEvaluation::exact_match() const {
    return share(exact_, texts_);
}

double LabelsEvaluation::nll() const {
    const auto choices = static_cast<double>(texts_) * static_cast<double>(counts_.size());
    return choices > 0.0 ? nll_sum_ / choices : 0.0;
}

void NumberEvaluation::add(double found, double wanted) {
    found_.push_back(found);
    wanted_.push_back(wanted);
}

double NumberEvaluation::mean_squared_error() const {
    double sum = 0.0;
    for (std::size_t i = 0; i < found_.size(); ++i) {
        sum += (found_[i] - wanted_[i]) * (found_[i] - wanted_[i]);
    }
    return found_.empty() ? 0.0 : sum / static_cast<double>(found_.size());
}

std::optional<double> NumberEvaluation::pearson() const {
    return correlation(found_, wanted_);
}

std::optional<double> NumberEvaluation::spearman() const {
    return correlation(ranks_of(found_), ranks_of(wanted_));
}

}  // namespace headscope
