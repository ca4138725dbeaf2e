// All parameters of a model in one flat buffer (so that Adam, averaging and all-reduce are one launch), each a named
// view.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "autograd/variable.h"
#include "model/config.h"

namespace headscope {

// How a parameter starts: Glorot uniform over its [out, in] (attention projections each on their own), N(0, 1/d_model)
// for embeddings and learned positions, 1 for gains, 0 for biases.
enum class Initial : std::uint8_t { Glorot, Embedding, One, Zero };

struct ParameterSpec {
    std::string name;  // "encoder.layers.0.self_attention.q.weight"; the table is in docs/model-directory.md
    Shape shape;
    Initial initial = Initial::Glorot;
    bool follows = false;  // stands right behind the one before, without a pad, so that both can be seen packed
};

// The table of names, fixed by format_version, in the order of the flat buffer: q, k and v of a self-attention (k and v
// of a cross-attention) stand side by side, so that their packed product [q; k; v] is a view.
std::vector<ParameterSpec> parameter_table(const ModelConfig& config);

class Parameters {
public:
    // Memory for the values and, for training, for the gradients (`with_gradients`). Values are 0 until they are
    // initialised or loaded.
    Parameters(Backend& backend, const ModelConfig& config, bool with_gradients);

    // Seeded; the same on every backend.
    void initialise(std::uint64_t seed);

    Backend& backend() const { return backend_; }
    const std::vector<ParameterSpec>& table() const;
    Var at(const std::string& name) const;  // Error-free: an unknown name is a CheckFailure
    bool has(const std::string& name) const;
    // `count` neighbours from `first`, seen as one [sum of rows, columns] matrix (or one long bias).
    Var packed(const std::string& first, int count) const;

    const Tensor& flat_values() const;     // [total()]
    const Tensor& flat_gradients() const;  // [total()], with_gradients only
    // Padded so that every group that is seen packed, and every other parameter, starts at a multiple of 16 elements.
    // Values and gradients of the pads are 0.
    std::int64_t total() const;
    std::int64_t count() const;     // without the pads
    void forget_gradients() const;  // the next writer of each overwrites

private:
    Backend& backend_;
    std::vector<ParameterSpec> table_;
    std::map<std::string, std::size_t> index_;
    std::vector<std::int64_t> offsets_;
    std::vector<Var> vars_;
    Var flat_;  // all of them are views of this one
    Tensor values_;
    Tensor gradients_;
    std::int64_t total_ = 0;
    std::int64_t count_ = 0;
};

}  // namespace headscope
