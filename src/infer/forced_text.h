// Token probabilities of texts under language models.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "infer/teacher_forced.h"

namespace headscope {

// `texts` are pieces without special ids. Causal models predict each piece and eos from those before; without a
// bos_id, the first piece is given. Masked models
// predict each piece from all others, one masked at a time, and no eos: the sum of the log-probabilities is the
// pseudo-log-likelihood (Salazar et al., 2020). As in training, a text longer than the models' max_length is cut into
// blocks of about equal length, and a piece is predicted from its own block. Ensembles and limits as in
// force_targets().
std::vector<std::vector<ForcedToken>> force_texts(Context& ctx, const std::vector<const Model*>& models,
                                                  std::span<const std::vector<std::int32_t>> texts,
                                                  const ForcedLimits& limits = {});

}  // namespace headscope
