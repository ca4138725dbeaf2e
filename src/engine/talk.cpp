#include "engine/talk.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "model/model_chat.h"
#include "support/check.h"

namespace headscope {

namespace {

// Replies may begin with the blank that their template has there.
std::string_view without_blanks(std::string_view text) {
    return text.substr(std::min(text.find_first_not_of(" \n"), text.size()));
}

DecodingOptions decoding_of(DecodingChoices choices, const OpenModel& model, const ChatEncoder& encoder) {
    const DecodingOptions usual = model.choices().applied_to(default_decoding_options(Architecture::CausalLm));
    choices.max_extra = choices.max_extra.value_or(Talk::kMostTokens);
    choices.max_length = 0;  // which counts the prompt
    DecodingOptions decoding = choices.applied_to(usual);
    check_search_options(decoding.search);
    decoding.search.ends = reply_ends(std::move(decoding.search.ends), encoder, model.directory().config);
    return decoding;
}

}  // namespace

Talk::Talk(Engine& engine, ModelHandle model, TalkOptions options)
    : Talk(engine, model, options, chat_encoder(model->directory(), options.chat_template)) {}

Talk::Talk(Engine& engine, ModelHandle model, TalkOptions options, ChatEncoder encoder)
    : engine_(engine),
      model_(std::move(model)),
      options_(std::move(options)),
      decoding_(decoding_of(options_.choices, *model_, encoder)),
      conversation_(std::move(encoder), options_.system, model_->longest(), decoding_.search.max_extra) {}

void Talk::resume(std::span<const ChatMessage> said, int left_out) {
    conversation_.resume(said, left_out);
    turn_ = static_cast<std::uint32_t>(said.size() / 2) + static_cast<std::uint32_t>(left_out);
    noted_ = left_out > 0;
}

Talk::Reply Talk::answer(const std::string& message, const Progress& progress) {
    const std::vector<std::int32_t> prompt = conversation_.ask(message);
    note_on_trimming();
    try {
        Reply reply = reply_to(prompt, progress);
        conversation_.take(reply.text);
        return reply;
    } catch (const Error&) {
        conversation_.withdraw();
        throw;
    }
}

void Talk::note_on_trimming() {
    if (conversation_.left_out() > 0 && !noted_) {
        noted_ = true;
        options_.note(
            fmt::format("the conversation is longer than the model's context of {} tokens: from now on its oldest "
                        "exchanges are left out{}",
                        model_->longest(), options_.system.empty() ? "" : "; the system message stays"));
    }
}

Talk::Reply Talk::reply_to(const std::vector<std::int32_t>& prompt, const Progress& progress) {
    constexpr std::chrono::milliseconds kPoll{50};  // for the user's interrupt
    Ticket<TextRequest> ticket = engine_.submit(
        model_,
        TextRequest{.line = {.text = {}, .number = ++turn_, .ids = prompt}, .options = decoding_, .streams = true});
    TextRequest::Event so_far;
    bool stopped = false;
    for (bool more = true; more;) {
        std::optional<TextRequest::Event> event = ticket.next(kPoll);
        more = event || !ticket.wait_for({});
        if (event) {
            so_far.add(std::move(*event));
        }
        if (!progress(without_blanks(so_far.text))) {
            ticket.cancel();
            stopped = true;
        }
    }
    if (stopped) {
        try {
            static_cast<void>(ticket.get());
        } catch (const Cancelled&) {  // what was written until then is the reply
        }
        return {.text = std::string(without_blanks(so_far.text)),
                .end = std::nullopt,
                .prompt_tokens = prompt.size(),
                .tokens = so_far.tokens.size()};
    }
    const TextResult found = ticket.get();
    if (!found.problem.empty()) {
        throw Error(found.problem);
    }
    return {.text = std::string(without_blanks(found.text)),
            .end = found.end,
            .prompt_tokens = prompt.size(),
            .tokens = found.target_ids.size()};
}

}  // namespace headscope
