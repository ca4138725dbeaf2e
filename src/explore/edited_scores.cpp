#include "explore/edited_scores.h"

#include <utility>

#include "model/family.h"
#include "observe/recorded_text.h"
#include "support/check.h"

namespace headscope {

namespace {

// Tokens that the encoder reads; 0 for a model without one, and for a text that has no score.
std::int64_t source_length(const ModelDirectory& model, const Languages& languages, const std::string& source,
                           const std::string& target) {
    const FamilyTraits& family = traits(model.config.architecture);
    try {
        return family.reads_source  ? std::ssize(source_ids(encode_source(model, languages, source)))
               : family.fills_masks ? std::ssize(target_in_ids(model.config, encode_language_text(model, target)))
                                    : 0;
    } catch (const Error&) {
        return 0;
    }
}

}  // namespace

EditedScoreSession::EditedScoreSession(Backend& backend, const LoadedModel& models, Compute compute,
                                       const std::vector<std::string>& sources, const std::vector<std::string>& targets,
                                       std::int64_t batch_tokens, Languages languages, std::vector<AttentionEdit> edits)
    : backend_(backend),
      models_(models),
      compute_(compute),
      sources_(sources),
      targets_(targets),
      batch_tokens_(batch_tokens),
      languages_(std::move(languages)),
      edits_(std::move(edits)) {}

EditedScoreSession::Pair::Pair(const EditedScoreSession& of, const std::string& source, const std::string& target)
    : observer(of.edits_, source_length(of.models_.model(), of.languages_, source, target), nullptr),
      ctx{.backend = of.backend_, .observer = &observer, .compute = of.compute_},
      scores(ctx, of.models_, {source}, {target}, of.batch_tokens_, of.languages_) {}

bool EditedScoreSession::step() {
    if (scored_.size() == targets_.size()) {
        return false;
    }
    if (current_ == nullptr) {
        current_ = std::make_unique<Pair>(*this, sources_[scored_.size()], targets_[scored_.size()]);
    }
    if (!current_->scores.step()) {
        tokens_ += current_->scores.tokens();
        scored_.push_back(std::move(current_->scores.take().front()));
        current_.reset();
    }
    return scored_.size() < targets_.size();
}

}  // namespace headscope
