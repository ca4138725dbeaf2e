// All parameters of a model in one flat buffer (so that Adam, averaging and all-reduce are one launch), each a named
// view. In 16 bits they are two: F32 masters, which Adam moves and checkpoints hold, and a working copy, of which
// products and embeddings read. A model that is only read may have its weights in I8, with a scale for each row.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "autograd/variable.h"
#include "model/description.h"

namespace headscope {

class Parameters {
public:
    // Memory for the values and, for training, for the gradients (`with_gradients`). Values are 0 until they are
    // initialised or loaded. `storage` is F16 or BF16 for a working copy of what is multiplied, which without gradients
    // stands in the masters' place: no weight is kept twice. Without gradients it may be I8, too.
    Parameters(Backend& backend, const ModelConfig& config, bool with_gradients, DType storage = DType::F32);

    // Seeded; the same on every backend.
    void initialise(std::uint64_t seed);

    Backend& backend() const { return backend_; }
    const std::vector<ParameterSpec>& table() const;
    Var at(const std::string& name) const;  // as the model reads it; an unknown name is a CheckFailure
    // Where its values are written and saved from: the master, or the working copy where there is none. After writing
    // masters comes refresh_working(). In I8 it holds a row's values over its scale.
    Tensor stored(const std::string& name) const;
    // Values to and from there on the host, rounded to what is stored.
    void store(const std::string& name, const std::vector<float>& values) const;
    std::vector<float> values_of(const std::string& name) const;
    bool has(const std::string& name) const;
    // `count` neighbours from `first`, seen as one [sum of rows, columns] matrix (or one long bias).
    Var packed(const std::string& first, int count) const;

    const Tensor& flat_values() const;     // [total()], the masters; not in 16 bits without gradients
    const Tensor& flat_gradients() const;  // [total()], with_gradients only
    const Tensor& flat_working() const;    // [total()] F16 or BF16, what Adam keeps; undefined where there is none
    void refresh_working() const;          // the working copy from the masters, where there are both
    // Every buffer there is, for Backend::replay.
    std::vector<Tensor> memory() const { return {values_, working_, gradients_, scales_}; }
    // Padded so that every group that is seen packed, and every other parameter, starts at a multiple of 16 elements.
    // Values and gradients of the pads are 0.
    std::int64_t total() const;
    std::int64_t count() const;     // without the pads
    void forget_gradients() const;  // the next writer of each overwrites

private:
    std::size_t index_of(const std::string& name) const;
    // As many neighbours from there as the shape takes, of what the model reads.
    Var view(std::size_t index, const Shape& shape) const;
    bool in_working(const ParameterSpec& spec) const { return working_.defined() && spec.multiplied; }
    bool in_eight_bits(const ParameterSpec& spec) const { return scales_.defined() && spec.multiplied; }
    void place();  // offsets_ and total_

    Backend& backend_;
    std::vector<ParameterSpec> table_;
    std::map<std::string, std::size_t> index_;
    bool separate_ = false;              // without masters of what is multiplied: two buffers of different layouts
    std::vector<std::int64_t> offsets_;  // of each in the buffer it is read from, where not separate_ in both
    std::vector<std::int64_t> scale_offsets_;  // of each in scales_
    std::vector<Var> vars_;
    Var flat_;          // all that is read in full are views of this one
    Var flat_working_;  // and of this one all that is multiplied, with the same gradients
    Tensor values_;
    Tensor working_;
    Tensor gradients_;
    Tensor scales_;  // of the rows of working_, where it is I8
    std::int64_t total_scales_ = 0;
    std::int64_t total_ = 0;          // of values_
    std::int64_t total_working_ = 0;  // of working_
    std::int64_t count_ = 0;
};

}  // namespace headscope
