#include "train/averaging.h"

#include <cstring>

#include <fmt/format.h>

#include "support/check.h"

namespace headscope {
namespace {

template <class T>
void add(const MappedTensor& tensor, std::vector<double>& sums) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
        T value;  // the file need not align its data
        std::memcpy(&value, tensor.data.data() + i * sizeof(T), sizeof(T));
        sums[i] += static_cast<double>(value);
    }
}

}  // namespace

void average_checkpoints(Backend& backend, const std::vector<Checkpoint>& files, const Tensor& into) {
    HEADSCOPE_CHECK(!files.empty(), "nothing to average");
    std::vector<double> mean(static_cast<std::size_t>(into.elements()), 0.0);
    for (const Checkpoint& file : files) {
        const MappedTensor stored = file.parameters();
        if (stored.shape != into.shape || (stored.dtype != DType::F32 && stored.dtype != DType::F64)) {
            throw Error(fmt::format("{}: \"parameters\" is {} {}, expected F32 {}: it belongs to another model",
                                    file.path(), name_of(stored.dtype), stored.shape.to_string(),
                                    into.shape.to_string()));
        }
        stored.dtype == DType::F32 ? add<float>(stored, mean) : add<double>(stored, mean);
    }
    for (double& value : mean) {
        value /= static_cast<double>(files.size());
    }
    from_host(backend, into, mean);
}

}  // namespace headscope
