#include "train/averaging.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include <fmt/format.h>

#include "support/check.h"

namespace headscope {
namespace {

template <class T>
void add_to(std::vector<double>& sums, const MappedTensor& tensor) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
        T value;  // the file need not align its data
        std::memcpy(&value, tensor.data.data() + i * sizeof(T), sizeof(T));
        sums[i] += static_cast<double>(value);
    }
}

}  // namespace

void AverageWeights::add(const Checkpoint& file) {
    const MappedTensor stored = file.parameters();
    const Shape expected{static_cast<std::int64_t>(sums_.size())};
    if (stored.shape != expected || (stored.dtype != DType::F32 && stored.dtype != DType::F64)) {
        throw Error(fmt::format("{}: \"parameters\" is {} {}, expected F32 {}: it belongs to another model",
                                file.path(), name_of(stored.dtype), stored.shape.to_string(), expected.to_string()));
    }
    stored.dtype == DType::F32 ? add_to<float>(sums_, stored) : add_to<double>(sums_, stored);
    ++count_;
}

void AverageWeights::add(const std::vector<float>& parameters) {
    HEADSCOPE_CHECK(parameters.size() == sums_.size(), "only weights of one shape have a mean");
    std::transform(sums_.begin(), sums_.end(), parameters.begin(), sums_.begin(), std::plus<double>());
    ++count_;
}

void AverageWeights::store(Backend& backend, const Tensor& into) const {
    HEADSCOPE_CHECK(count_ > 0, "nothing to average");
    std::vector<double> mean = sums_;
    for (double& value : mean) {
        value /= static_cast<double>(count_);
    }
    from_host(backend, into, mean);
}

void average_checkpoints(Backend& backend, const std::vector<Checkpoint>& files, const Tensor& into) {
    AverageWeights average(into.elements());
    for (const Checkpoint& file : files) {
        average.add(file);
    }
    average.store(backend, into);
}

}  // namespace headscope
