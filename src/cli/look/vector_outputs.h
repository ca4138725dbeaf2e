// What headscope embed makes of vectors: lines of text or JSON, an array of numpy, cosines, neighbours, a picture.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "explore/text_vectors.h"

namespace headscope {

struct EmbeddedLine {
    std::int64_t number = 0;  // from 1
    std::string text;
    TextVectors vectors;  // none if they have a problem
};

class VectorOutput {
public:
    VectorOutput() = default;
    VectorOutput(const VectorOutput&) = delete;
    VectorOutput& operator=(const VectorOutput&) = delete;
    virtual ~VectorOutput() = default;

    // The next line of the input.
    virtual void add(EmbeddedLine line) = 0;
    virtual void finish() {}
};

struct VectorFormat {
    VectorUnit unit = VectorUnit::Line;
    bool json = false;
};

// The numbers of each vector, as they come.
std::unique_ptr<VectorOutput> printed_vectors(const VectorFormat& format);
// A .npy of F32 [vectors, columns]; a line without a vector of its own has a row of zeros. JSON says which row is what.
std::unique_ptr<VectorOutput> array_of_vectors(const VectorFormat& format, const std::string& path,
                                               std::int64_t columns);
// The cosine of each vector with each.
std::unique_ptr<VectorOutput> table_of_cosines(const VectorFormat& format);
// The `most` nearest to each vector among those of other lines, which `others` gives one after the other. `name`: of
// their file.
using EachLine = std::function<void(const std::function<void(const EmbeddedLine& line)>& take)>;
std::unique_ptr<VectorOutput> nearest_of_others(const VectorFormat& format, int most, const std::string& name,
                                                EachLine others);
// A picture of them in two dimensions. JSON says where each is.
std::unique_ptr<VectorOutput> picture_of_vectors(const VectorFormat& format, const std::string& path,
                                                 const std::string& title);

}  // namespace headscope
