// Where the values of a model's parameters are read from: our own file, or another program's (src/import).
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/gguf_types.h"
#include "model/description.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace headscope {

// F32, F16 or BF16, row-major and not necessarily aligned; valid while the caller of TakeWeight waits. Or of F32 in
// rows of whole blocks of quantised numbers.
struct WeightValues {
    DType dtype = DType::F32;
    Shape shape;
    std::span<const std::byte> data;
    std::string file, name;  // where they are from, for messages
    const GgufType* blocks = nullptr;
    // Lets go of the memory into which a part of `data` is mapped, once it has been read; null where it is not mapped.
    std::function<void(std::span<const std::byte>)> release = nullptr;
};
using TakeWeight = std::function<void(const ParameterSpec&, const WeightValues&)>;

class WeightSource {
public:
    virtual ~WeightSource() = default;
    // Calls `take` once for each parameter, in the order of the table. Error that names file and tensor for one that is
    // missing or that the table does not need.
    virtual void read(const std::vector<ParameterSpec>& table, const TakeWeight& take) const = 0;
    // Those that read() gives in blocks, by name.
    virtual std::map<std::string, const GgufType*> in_blocks(const std::vector<ParameterSpec>& /*table*/) const {
        return {};
    }
};

// A safetensors file with our names, which is opened and mapped by read().
std::shared_ptr<const WeightSource> own_weights(const std::string& file);

}  // namespace headscope
