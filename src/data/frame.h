// What stands around the pieces of texts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "data/patch_grid.h"

namespace headscope {

// A source is source_begin, its pieces and source_end. A decoder reads bos, target_begin and the target's pieces, and
// predicts the pieces and eos; target_begin is given. Language models read bos, the text and maybe eos.
struct Frame {
    std::int32_t pad = 0;  // fills up rows of batches, where it has no effect
    std::int32_t bos = 1;  // -1: a zero vector; of a causal language model: none
    std::int32_t eos = 2;
    std::vector<std::int32_t> source_begin = {}, source_end = {2}, target_begin = {};
    std::vector<std::int32_t> between = {2};  // of two texts of a masked language model
    std::int32_t mask = -1;                   // of a translator that fills in masks; -1: it writes from left to right
    std::vector<std::int32_t> cluster_starts = {};  // of an adaptive output: the first id of each of its clusters
    std::optional<PatchGrid> patches = {};          // of a model whose sources are pictures, with nothing around them

    // The number of tokens around a source's pieces, and around a target's, read or predicted.
    std::int64_t around_source() const { return std::ssize(source_begin) + std::ssize(source_end); }
    std::int64_t around_target() const { return std::ssize(target_begin) + 1; }
    // The positions of a source of so many pieces, with what stands around them.
    std::int64_t source_positions(std::int64_t pieces) const {
        return patches ? patches->positions() : pieces + around_source();
    }

    std::vector<std::int32_t> source(std::span<const std::int32_t> pieces) const {
        std::vector<std::int32_t> ids = source_begin;
        ids.insert(ids.end(), pieces.begin(), pieces.end());
        ids.insert(ids.end(), source_end.begin(), source_end.end());
        return ids;
    }
    // The first tokens that a decoder reads.
    std::vector<std::int32_t> start() const {
        std::vector<std::int32_t> ids{bos};
        ids.insert(ids.end(), target_begin.begin(), target_begin.end());
        return ids;
    }

    // Of a causal language model's text.
    std::vector<std::int32_t> start_of_text() const {
        return bos < 0 ? std::vector<std::int32_t>{} : std::vector<std::int32_t>{bos};
    }

    bool operator==(const Frame&) const = default;
};

}  // namespace headscope
