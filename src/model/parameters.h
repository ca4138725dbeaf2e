// All parameters of a model as named views of one flat buffer, so that Adam, averaging and all-reduce are one launch.
// In 16 bits there are two buffers: the F32 masters, which Adam updates and checkpoints contain, and a working copy,
// which products and embeddings read. For inference the weights may be I8, with a scale for each row, or in blocks of 8
// or 4 bits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "autograd/variable.h"
#include "model/block_forms.h"

namespace headscope {

class Parameters {
public:
    // Memory for the values and, for training, for the gradients. Values are 0 until they are initialised or loaded.
    // `storage` F16 or BF16 adds a working copy of the weights that are multiplied; without gradients it replaces their
    // masters. I8 and blocks are possible without gradients only.
    Parameters(Backend& backend, const ModelConfig& config, bool with_gradients, const WeightStorage& storage = {},
               const BlocksInFile& in_file = {});

    // The memory of `lender`, of a device that lends and whose weights are not trained: Backend::borrow().
    Parameters(Backend& backend, const Parameters& lender);

    // Seeded; the same on every backend.
    void initialise(std::uint64_t seed);

    Backend& backend() const { return backend_; }
    const std::vector<ParameterSpec>& table() const;
    Var at(const std::string& name) const;  // as the model reads it; an unknown name is a CheckFailure
    // Where values are written to and saved from: the master, or the working copy if there is no master. Call
    // refresh_working() after writing. An I8 weight holds a row's values divided by its scale, one in blocks its codes.
    Tensor stored(const std::string& name) const;
    // Of a weight in blocks; of 0 bits for others.
    BlockForm block_form(const std::string& name) const;
    // Values from and to the host, rounded to what is stored.
    void store(const std::string& name, const std::vector<float>& values) const;
    std::vector<float> values_of(const std::string& name) const;
    bool has(const std::string& name) const;
    // `count` adjacent parameters from `first` on, as one [sum of rows, columns] matrix or one long bias.
    Var packed(const std::string& first, int count) const;

    const Tensor& flat_values() const;     // [total()], the masters; not in 16 bits without gradients
    const Tensor& flat_gradients() const;  // [total()], with_gradients only
    const Tensor& flat_working() const;    // [total()] F16 or BF16, which Adam updates too; may be undefined
    // Copies the masters to the working copy if there are both, and what is read in F32 to its rounded copy.
    void refresh_working() const;
    // Lays out the weights that are multiplied as the backend reads them fastest (Backend::pack), when their values are
    // there. Not with gradients.
    void pack();
    // Padded: every packed group, and every other parameter, starts at a multiple of 16 elements. Values and gradients
    // of the padding are 0.
    std::int64_t total() const;
    std::int64_t count() const;                             // of trained ones, without the padding
    std::int64_t offset_of(const std::string& name) const;  // in flat_values()
    void forget_gradients() const;                          // the next writer of each gradient overwrites it

private:
    std::size_t index_of(const std::string& name) const;
    // What the model reads from there on: one parameter, or as many adjacent ones as the shape has elements for.
    Var view(std::size_t index, const Shape& shape) const;
    bool in_working(const ParameterSpec& spec) const { return working_.defined() && spec.multiplied; }
    bool in_eight_bits(const ParameterSpec& spec) const { return scales_.defined() && spec.multiplied; }
    bool any_blocks() const { return total_codes_ > 0; }
    void place();  // computes offsets and totals
    bool is_packed() const {
        return std::ranges::any_of(packed_, [](bool packed) { return packed; });
    }

    Backend& backend_;
    std::vector<ParameterSpec> table_;
    std::map<std::string, std::size_t> index_;
    std::vector<BlockForm> block_forms_;       // of each parameter
    std::vector<bool> packed_;                 // whether each parameter is
    bool separate_ = false;                    // no masters of what is multiplied: two buffers of different layouts
    std::vector<std::int64_t> offsets_;        // in the buffer that is read; in both buffers unless separate_
    std::vector<std::int64_t> scale_offsets_;  // in scales_, or in block_scales_; offsets_ are then those in codes_
    std::vector<Var> vars_;
    Var flat_;          // of which parameters read in F32 are views
    Var flat_working_;  // of which multiplied parameters are views, with the same gradients
    Tensor values_;
    Tensor working_;
    Tensor gradients_;
    Tensor scales_;                // of the rows of working_, where it is I8
    Tensor codes_, block_scales_;  // of weights in blocks
    Tensor rounded_;  // [total_] values_ as activations are stored: working_, or without masters an own copy
    std::int64_t total_scales_ = 0;
    std::int64_t total_codes_ = 0;
    std::int64_t total_block_scales_ = 0;
    std::int64_t total_ = 0;          // of values_
    std::int64_t total_working_ = 0;  // of working_
    std::int64_t count_ = 0;
};

}  // namespace headscope
