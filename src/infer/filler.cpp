#include "infer/filler.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "backend/ops/search.h"
#include "data/device_batch.h"
#include "support/check.h"

namespace headscope {

const int Filler::kMostCandidates = LogSoftmaxTopK::kMaxK - kSpecialPieces;

std::array<std::int32_t, kSpecialPieces> never_filled_in(const ModelConfig& config) {
    return {config.frame.pad_id, config.frame.bos_id, config.frame.eos_id, config.frame.unk_id, config.frame.mask_id};
}

std::string fill_in(const Tokenizer& tokenizer, std::string_view text, const std::vector<ByteSpan>& masks,
                    const FilledText& filled) {
    HEADSCOPE_CHECK(masks.size() == filled.masks.size(), "each mask of the text is filled in");
    const JoinedText joined = tokenizer.join(filled.ids);
    std::string result;
    std::size_t done = 0;
    for (std::size_t i = 0; i < masks.size(); ++i) {
        const std::size_t position = filled.masks[i].position;
        result += text.substr(done, masks[i].begin - done);
        done = masks[i].end;
        const std::size_t before = joined.spans[position - 1].end;  // bos is first
        const std::string_view word = std::string_view(joined.text).substr(before, joined.spans[position].end - before);
        if (before > 0) {
            append_filling(result, word);
        } else {
            result += word.substr(word.starts_with(' ') ? 1 : 0);
        }
    }
    return result.append(text.substr(done));
}

Filler::Filler(Backend& backend, const LoadedModel& models, Compute compute, AttentionObserver* observer)
    : backend_(backend), model_(models.model()), masked_lm_(models.network()), compute_(compute), observer_(observer) {
    require_architecture(model_, Architecture::MaskedLm);
}

MaskedText Filler::encode(std::string_view text, std::string_view mark) const {
    MaskedText masked = encode_masked(model_, text, mark);
    if (masked.masks.empty()) {
        throw Error(fmt::format("'{}' has no {}: put it where a word is to be filled in", text, mark));
    }
    return masked;
}

std::vector<MaskedPosition> Filler::predict(const std::vector<std::int32_t>& ids, int count) const {
    const ModelConfig& config = model_.config;
    const Example example{.target = ids,
                          .labels = std::vector<std::int32_t>(ids.size(), kNoTarget),
                          .types = token_types_of(config, ids)};
    std::vector<MaskedPosition> found;
    std::vector<std::int32_t> rows;
    for (std::size_t position = 0; position < ids.size(); ++position) {
        if (ids[position] == config.frame.mask_id) {
            found.push_back({position, {}});
            rows.push_back(static_cast<std::int32_t>(position));
        }
    }
    const DeviceBatch batch =
        upload(backend_, make_batch(std::span(&example, 1), frame_of(config), 0, {.longest = config.max_length}));
    Context ctx{.backend = backend_, .observer = observer_, .compute = compute_};
    const Var states = masked_lm_.states(ctx, batch);
    const auto masks = static_cast<std::int64_t>(rows.size());
    const Tensor chosen = backend_.empty({masks, config.d_model}, states.value().dtype);
    backend_.run(GatherRows{.x = states.value().reshape({batch.target.length(), config.d_model}),
                            .index = make_from_host<std::int32_t>(backend_, {masks}, DType::I32, rows),
                            .out = chosen});
    const Tensor logits = masked_lm_.logits(ctx, Var(chosen.reshape({1, masks, config.d_model})))
                              .value()
                              .reshape({masks, config.target_vocabulary});
    const auto never = never_filled_in(config);
    const std::int64_t pieces = ids_with_pieces(model_.target_tokenizer->vocabulary());
    const std::int64_t ranked =
        std::min<std::int64_t>(count + kSpecialPieces + config.target_vocabulary - pieces, LogSoftmaxTopK::kMaxK);
    const auto most = std::min(ranked, config.target_vocabulary);
    const Tensor values = backend_.empty({masks, most}, backend_.full_dtype());
    const Tensor tokens = backend_.empty({masks, most}, DType::I32);
    backend_.run(LogSoftmaxTopK{.logits = logits, .values = values, .indices = tokens});
    const auto log_probabilities = to_host<double>(backend_, values);
    const auto best = to_host<std::int32_t>(backend_, tokens);
    for (std::size_t i = 0; i < best.size(); ++i) {
        if (!std::isfinite(log_probabilities[i])) {
            throw Error("the model's probabilities are NaN or infinite: its weights are damaged, or training diverged");
        }
        MaskedPosition& mask = found[i / static_cast<std::size_t>(most)];
        const bool is_special = std::find(never.begin(), never.end(), best[i]) != never.end();
        if (std::ssize(mask.candidates) < count && best[i] < pieces) {
            (is_special ? mask.special : mask.candidates).push_back({best[i], log_probabilities[i]});
        }
    }
    if (std::any_of(found.begin(), found.end(), [](const auto& mask) { return mask.candidates.empty(); })) {
        throw Error("the model's likeliest predictions of a masked token have no piece in its vocabulary");
    }
    return found;
}

FillSession::FillSession(Filler filler, std::vector<std::int32_t> ids, int count, bool one_by_one)
    : filler_(std::move(filler)),
      count_(count),
      one_by_one_(one_by_one),
      result_{.ids = std::move(ids), .text = {}, .masks = {}} {
    HEADSCOPE_CHECK(count >= 1 && count <= Filler::kMostCandidates, "the number of candidates is out of range");
}

bool FillSession::step() {
    std::vector<std::int32_t>& ids = result_.ids;
    const auto masked = [&] { return std::ranges::find(ids, filler_.model().config.frame.mask_id) != ids.end(); };
    if (!masked()) {
        return false;
    }
    std::vector<MaskedPosition> masks = filler_.predict(ids, count_);
    tokens_ += std::ssize(ids);
    if (one_by_one_) {
        std::swap(masks.front(), *std::max_element(masks.begin(), masks.end(), [](const auto& a, const auto& b) {
                      return a.candidates.front().log_probability < b.candidates.front().log_probability;
                  }));
        masks.resize(1);
    }
    for (MaskedPosition& mask : masks) {
        ids[mask.position] = mask.candidates.front().id;
        result_.masks.push_back(std::move(mask));
    }
    return masked();
}

FilledText FillSession::take() {
    std::ranges::sort(result_.masks, {}, &MaskedPosition::position);
    result_.text = filler_.model().target_tokenizer->decode(result_.ids);
    return std::move(result_);
}

FilledText Filler::fill(std::vector<std::int32_t> ids, int count, bool one_by_one) const {
    FillSession session(*this, std::move(ids), count, one_by_one);
    finish(session);
    return session.take();
}

}  // namespace headscope
