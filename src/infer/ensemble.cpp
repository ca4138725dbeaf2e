#include "infer/ensemble.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "infer/model_scorer.h"
#include "support/check.h"

namespace headscope {

namespace {

void check_same_pieces(const Tokenizer& one, const Tokenizer& other, const char* side, const std::string& names) {
    if (one.size() != other.size()) {
        throw Error(fmt::format("{} have different {} vocabularies: one has {} pieces, the other {}", names, side,
                                one.size(), other.size()));
    }
    for (std::int32_t id = 0; id < one.size(); ++id) {
        if (one.piece(id) != other.piece(id)) {
            throw Error(fmt::format("{} have different {} vocabularies: piece {} is '{}' in one and '{}' in the other",
                                    names, side, id, one.piece(id), other.piece(id)));
        }
    }
}

}  // namespace

EnsembleScorer::EnsembleScorer(std::vector<std::unique_ptr<Scorer>> members) : members_(std::move(members)) {
    HEADSCOPE_CHECK(!members_.empty(), "an ensemble needs at least one model");
}

std::int64_t EnsembleScorer::vocabulary() const {
    return members_.front()->vocabulary();
}

// One member after the other.
bool EnsembleScorer::read_on() {
    return std::ranges::any_of(members_, [](const std::unique_ptr<Scorer>& member) { return member->read_on(); });
}

bool EnsembleScorer::can_join() const {
    return std::ranges::all_of(members_, [](const std::unique_ptr<Scorer>& member) { return member->can_join(); });
}

std::int32_t EnsembleScorer::join(Scorer& other) {
    auto* added = dynamic_cast<EnsembleScorer*>(&other);
    HEADSCOPE_CHECK(added != nullptr && added->members_.size() == members_.size(),
                    "only an ensemble of the same models can be joined");
    std::int32_t first = 0;
    for (std::size_t i = 0; i < members_.size(); ++i) {
        first = members_[i]->join(*added->members_[i]);
    }
    return first;
}

const NextTokens& EnsembleScorer::step(const std::vector<std::int32_t>& tokens,
                                       const std::vector<std::int32_t>& parents, int k) {
    const AllTokens& all = step_all(tokens, parents);
    next_ = best_of(all, 0, all.rows, k);
    return next_;
}

const AllTokens& EnsembleScorer::step_all(const std::vector<std::int32_t>& tokens,
                                          const std::vector<std::int32_t>& parents) {
    std::vector<double> sums;
    for (const std::unique_ptr<Scorer>& member : members_) {
        const AllTokens& own = member->step_all(tokens, parents);
        sums.resize(own.log_probabilities.size());
        for (std::size_t i = 0; i < sums.size(); ++i) {
            sums[i] += std::exp(static_cast<double>(own.log_probabilities[i]));
        }
        all_.rows = own.rows;
        all_.vocabulary = own.vocabulary;
    }
    const auto count = static_cast<double>(members_.size());
    all_.log_probabilities.resize(sums.size());
    std::transform(sums.begin(), sums.end(), all_.log_probabilities.begin(),
                   [count](double sum) { return static_cast<float>(std::log(sum / count)); });
    return all_;
}

std::unique_ptr<Scorer> make_scorer(Context& ctx, const std::vector<const Generator*>& models,
                                    const std::vector<std::vector<std::int32_t>>& sources) {
    if (models.size() == 1) {
        return std::make_unique<ModelScorer>(ctx, *models.front(), sources);
    }
    std::vector<std::unique_ptr<Scorer>> members;
    for (const Generator* model : models) {
        members.push_back(std::make_unique<ModelScorer>(ctx, *model, sources));
    }
    return std::make_unique<EnsembleScorer>(std::move(members));
}

void check_can_be_averaged(const ModelDirectory& one, const ModelDirectory& other) {
    if (one.config.architecture != other.config.architecture) {
        throw Error(fmt::format("'{}' is a {}, but '{}' is a {}: only models of one family can be averaged", one.path,
                                name_of(one.config.architecture), other.path, name_of(other.config.architecture)));
    }
    const std::string names = fmt::format("'{}' and '{}'", one.path, other.path);
    check_same_pieces(*one.source_tokenizer, *other.source_tokenizer, "source", names);
    check_same_pieces(*one.target_tokenizer, *other.target_tokenizer, "target", names);
    const auto around = [](const ModelConfig& config) {
        return std::tie(config.frame.source_begin, config.frame.source_end, config.frame.target_begin,
                        config.frame.languages);
    };
    if (around(one.config) != around(other.config)) {
        throw Error(
            fmt::format("{} have different tokens around their texts: compare source_begin, source_end, "
                        "target_begin and languages of their configurations",
                        names));
    }
    struct Special {
        const char* name;
        std::int32_t FrameConfig::*id;
    };
    for (const Special& special : std::to_array<Special>({{"pad_id", &FrameConfig::pad_id},
                                                          {"bos_id", &FrameConfig::bos_id},
                                                          {"eos_id", &FrameConfig::eos_id},
                                                          {"unk_id", &FrameConfig::unk_id},
                                                          {"mask_id", &FrameConfig::mask_id}})) {
        if (one.config.frame.*special.id != other.config.frame.*special.id) {
            throw Error(fmt::format("{} have different vocabularies: {} is {} in one and {} in the other", names,
                                    special.name, one.config.frame.*special.id, other.config.frame.*special.id));
        }
    }
}

}  // namespace headscope
