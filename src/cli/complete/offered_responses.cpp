#include "cli/complete/offered_responses.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "cli/response_template.h"
#include "eval/ratings.h"
#include "model/frame_of_config.h"
#include "support/check.h"
#include "support/random.h"

namespace headscope {

Offers::Offers(const OfferOptions& options, const std::string& prompts) : options_(options), choices_(options.choices) {
    choices_.sample = true;
    check_choices(choices_);
    ResponseReader reader(prompts, ResponseForm::Offered);
    for (Responses responses; reader.next(responses);) {
        if (responses.texts.size() > kMostRanked) {
            throw Error(fmt::format("{}: {} responses are ranked by keys of one digit: leave {} at most",
                                    reader.place(), responses.texts.size(), kMostRanked));
        }
        prompts_.push_back({std::move(responses), reader.place()});
        if (!numbers_.emplace(key(prompts_.size() - 1), prompts_.size() - 1).second) {
            throw Error(fmt::format("{}: the prompt stands twice in the file: remove one", reader.place()));
        }
    }
    if (prompts_.empty()) {
        throw Error(fmt::format("'{}' has no prompts", prompts));
    }
}

std::optional<std::size_t> Offers::find(const std::string& wanted) const {
    const auto found = numbers_.find(wanted);
    return found == numbers_.end() ? std::nullopt : std::optional(found->second);
}

void Offers::ask(std::size_t i) {
    if (!needs_samples(i) || !prompts_[i].asked.empty()) {
        return;
    }
    if (!opened_) {
        opened_ = std::make_unique<OpenedEngine>(options_.common, options_.common.find_models());
        const ModelDirectory& model = opened_->directory();
        encoder_.emplace(model.target_tokenizer, frame_of(model.config),
                         response_template(model, options_.chat_template));
        choices_.max_extra = choices_.max_extra.value_or(kMostOffered);
        decoding_ = choices_.applied_to(default_decoding_options(Architecture::CausalLm));
        decoding_.search.ends = encoder_->ends();
        check_search_options(decoding_.search);
    }
    const std::vector<std::int32_t> ids = encoder_->encode_prompt(prompts_[i].responses, prompts_[i].place);
    for (int sample = 0; sample < options_.samples; ++sample) {
        const auto number = static_cast<std::uint32_t>(i * static_cast<std::size_t>(options_.samples)) +
                            static_cast<std::uint32_t>(sample) + 1;
        prompts_[i].asked.push_back(opened_->engine.submit(
            opened_->model, TextRequest{.line = {.text = {}, .number = number, .ids = ids}, .options = decoding_}));
    }
}

Responses Offers::responses(std::size_t i) {
    ask(i);
    Responses offered = prompts_[i].responses;
    for (Ticket<TextRequest>& ticket : prompts_[i].asked) {
        const TextResult found = ticket.get();
        if (!found.problem.empty()) {
            throw Error(fmt::format("{}: {}", prompts_[i].place, found.problem));
        }
        const std::size_t begin = std::min(found.text.find_first_not_of(" \n"), found.text.size());
        std::string text = found.text.substr(begin);
        if (!text.empty() && std::ranges::find(offered.texts, text) == offered.texts.end()) {
            offered.texts.push_back(std::move(text));
        }
    }
    prompts_[i].asked.clear();
    prompts_[i].responses.texts = offered.texts;
    ask(i + 1);
    Random(options_.choices.seed.value_or(1), i).shuffle(offered.texts);
    return offered;
}

}  // namespace headscope
