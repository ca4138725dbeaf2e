// The tensors and the plain values in a pickle's object.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "io/pickle_value.h"
#include "io/tensor_archive.h"

namespace headscope {

// Where the data of a tensor's storage lies: fills data or unpack, from the tensor's first element on.
using LocateTensor = std::function<void(StoredTensor& tensor, const PickleValue& value)>;

struct PickleContents {
    std::vector<StoredTensor> tensors;  // named by their path: "model.encoder.weight"
    nlohmann::json objects;             // the rest
};

// A container inside itself is null there. Error without the file's name if containers nest too deeply.
PickleContents pickle_contents(const PickleValue& root, const std::string& file, const LocateTensor& locate);

}  // namespace headscope
