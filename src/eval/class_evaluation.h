// How well a model tells the classes of texts apart, and how near its numbers are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "eval/forced_statistics.h"

namespace headscope {

class ClassEvaluation {
public:
    explicit ClassEvaluation(std::size_t classes) : counts_(classes, std::vector<std::int64_t>(classes)) {}

    // A text of this class. `probabilities`: of all classes; of equal ones the model's is the first. Error for a class
    // of probability 0 or NaN.
    void add(const std::vector<double>& probabilities, std::size_t label);

    // Shares from 0 to 1; one whose divisor is 0 is 0.
    struct OfClass {
        std::int64_t texts = 0;
        double precision = 0.0, recall = 0.0, f1 = 0.0;
    };
    OfClass of_class(std::size_t label) const;
    double accuracy() const { return choices_.accuracy(); }
    // The mean of F1 over the classes that texts have or the model gives, as scikit-learn's.
    double macro_f1() const;
    // [class of the texts][class of the model]
    const std::vector<std::vector<std::int64_t>>& confusion() const { return counts_; }
    // The loss, and the calibration of the probability of the model's class.
    const ForcedStatistics& choices() const { return choices_; }
    std::int64_t texts() const { return choices_.tokens(); }

private:
    std::vector<std::vector<std::int64_t>> counts_;
    ForcedStatistics choices_;
};

// Of texts that have any number of classes. The model gives a text each class whose probability is at least 0.5.
class LabelsEvaluation {
public:
    explicit LabelsEvaluation(std::size_t classes) : counts_(classes) {}

    // `scores`: of the classes, whose probabilities are their sigmoids. `wanted`: above 0 for each that the text has.
    // Error for a score that is not finite.
    void add(const std::vector<double>& scores, const std::vector<float>& wanted);

    ClassEvaluation::OfClass of_class(std::size_t label) const;
    // F1 of all choices together, and the mean of F1 over all classes, as scikit-learn's.
    double micro_f1() const;
    double macro_f1() const;
    // The share of texts that got just their classes.
    double exact_match() const;
    // The mean over texts and classes of -log of the probability of having the class, or of not having it.
    double nll() const;
    std::int64_t texts() const { return texts_; }

private:
    struct Counts {
        std::int64_t texts = 0, given = 0, right = 0;  // that have it, that got it, and both
    };
    std::vector<Counts> counts_;
    std::int64_t texts_ = 0, exact_ = 0;
    double nll_sum_ = 0.0;
};

class NumberEvaluation {
public:
    void add(double found, double wanted);

    std::int64_t texts() const { return static_cast<std::int64_t>(found_.size()); }
    double mean_squared_error() const;
    // Correlations of the numbers and of their ranks, of which equal numbers have the mean; nothing if all numbers of
    // either side are equal.
    std::optional<double> pearson() const;
    std::optional<double> spearman() const;

private:
    std::vector<double> found_, wanted_;
};

}  // namespace headscope
