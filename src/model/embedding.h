// 3.4 and 3.5: tokens and their positions as vectors.
#pragma once

#include <memory>
#include <string>

#include "model/residual.h"
#include "model/sinusoids.h"

namespace headscope {

class Embedding {
public:
    // `stack` is "encoder" or "decoder". The sinusoids are shared by both and grow with use.
    Embedding(const ModelConfig& config, const Parameters& parameters, const std::string& stack,
              std::shared_ptr<Sinusoids> sinusoids, DropoutSites& sites);

    // ids I32 [batch, length]; result [batch, length, d_model]. `order` as in EmbedOperands.
    Var operator()(Context& ctx, const Tensor& ids, const Tensor& order) const;
    // The same for tokens that stand at position `first` I32 [1], whose value the host knows as `first_on_host`.
    Var at(Context& ctx, const Tensor& ids, const Tensor& first, std::int64_t first_on_host) const;

private:
    Var run(Context& ctx, EmbedOperands operands, std::int64_t end) const;

    std::string stack_;
    Var table_;      // [vocabulary, d_model]
    Var positions_;  // [max_length, d_model], learned; undefined for sinusoids
    std::shared_ptr<Sinusoids> sinusoids_;
    float scale_;
    std::uint32_t site_;
};

}  // namespace headscope
