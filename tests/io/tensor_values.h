// The values of an archive's tensors, for tests.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "io/tensor_archive.h"

namespace headscope {

template <class T>
std::vector<T> values_of(const TensorArchive& archive, const std::string& name) {
    const ArchiveTensor tensor = archive.at(name);
    HEADSCOPE_CHECK(tensor.data.size() == static_cast<std::size_t>(tensor.shape.elements()) * size_of(tensor.dtype) &&
                        size_of(tensor.dtype) == sizeof(T),
                    "a tensor of another size");
    std::vector<T> values(tensor.data.size() / sizeof(T));
    std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
    return values;
}

template <class T>
std::string bytes_of(const std::vector<T>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

}  // namespace headscope
