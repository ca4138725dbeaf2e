// headscope chat: talks with a causal language model that was trained to answer.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/complete/end_name.h"
#include "cli/json_output.h"
#include "cli/opened_engine.h"
#include "cli/stop_signal.h"
#include "infer/conversation.h"
#include "io/input_files.h"
#include "model/model_chat.h"
#include "options/decoding_flags.h"
#include "options/option_values.h"
#include "options/text_options.h"
#include "support/check.h"
#include "support/usage_error.h"

namespace headscope {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kMostTokens = 512;  // of a reply, unless the user gives another number

struct ChatOptions {
    CommonOptions common;
    std::string system, chat_template;
    DecodingChoices choices;
};

struct Reply {
    std::string text;
    const char* end = "interrupted";
    std::size_t tokens = 0;
};

// Replies may begin with the blank that their template has there.
std::string_view without_blanks(std::string_view text) {
    return text.substr(std::min(text.find_first_not_of(" \n"), text.size()));
}

class Chat {
public:
    Chat(const ChatOptions& options, DecodingOptions decoding, ChatEncoder encoder, OpenedEngine& opened)
        : options_(options),
          decoding_(std::move(decoding)),
          conversation_(std::move(encoder), options.system, opened.model->longest(), decoding_.search.max_extra),
          opened_(opened) {}

    void answer(const std::string& message) {
        const std::vector<std::int32_t> prompt = conversation_.ask(message);
        tell_of_trimming();
        try {
            Reply reply = reply_to(prompt);
            const std::string text(without_blanks(reply.text));
            conversation_.take(text);
            write_output(options_.common.json ? json_row(Json{{"turn", turn_},
                                                              {"message", message},
                                                              {"reply", text},
                                                              {"end", reply.end},
                                                              {"prompt_tokens", prompt.size()},
                                                              {"tokens", reply.tokens},
                                                              {"left_out", conversation_.left_out()}})
                                              : text.substr(std::min(written_, text.size())) + "\n");
        } catch (const Error&) {
            conversation_.withdraw();
            throw;
        }
    }

private:
    void tell_of_trimming() {
        if (conversation_.left_out() > 0 && !told_) {
            log_line(
                fmt::format("headscope: the conversation is longer than the model's context of {} tokens: from now "
                            "on its oldest exchanges are left out{}",
                            opened_.model->longest(), options_.system.empty() ? "" : "; the system message stays"));
            told_ = true;
        }
    }

    // Written as it grows, if no later token changes earlier ones.
    Reply reply_to(const std::vector<std::int32_t>& prompt) {
        constexpr std::chrono::milliseconds kPoll{50};  // for the user's interrupt
        const bool streams = decoding_.search.beam == 1 && !options_.common.json;
        Ticket<TextRequest> ticket = opened_.engine.submit(
            opened_.model,
            TextRequest{.line = {.text = {}, .number = ++turn_, .ids = prompt}, .options = decoding_, .streams = true});
        TextRequest::Event so_far;
        written_ = 0;
        bool interrupted = false;
        for (bool more = true; more;) {
            std::optional<TextRequest::Event> event = ticket.next(kPoll);
            more = event || !ticket.wait_for({});
            if (event) {
                so_far.add(std::move(*event));
            }
            if (const std::string_view text = without_blanks(so_far.text); streams && text.size() > written_) {
                write_output(std::string(text.substr(written_)));
                written_ = text.size();
            }
            if (take_interrupt()) {
                ticket.cancel();
                interrupted = true;
            }
        }
        while (take_interrupt()) {  // a late one is of this reply, too
        }
        if (interrupted) {
            try {
                static_cast<void>(ticket.get());
            } catch (const Cancelled&) {  // what was written until then is the reply
            }
            return {.text = so_far.text, .tokens = so_far.tokens.size()};
        }
        const TextResult found = ticket.get();
        if (!found.problem.empty()) {
            throw Error(found.problem);
        }
        return {.text = found.text, .end = name_of(found.end), .tokens = found.target_ids.size()};
    }

    const ChatOptions& options_;
    const DecodingOptions decoding_;
    Conversation conversation_;
    OpenedEngine& opened_;
    std::uint32_t turn_ = 0;   // the key of the reply's random numbers
    std::size_t written_ = 0;  // bytes of the reply
    bool told_ = false;
};

// Who writes the messages: a file, or a person, who gets a prompt unless a program reads the output.
struct Writer {
    bool present = false, asked = false;
};

// The next message; false at the end.
bool read_message(const Writer& writer, std::string& message) {
    const auto read = [&] { return static_cast<bool>(std::getline(std::cin, message)); };
    if (writer.present) {
        const Interruptible waiting;
        write_output(writer.asked ? "> " : "");
        return read();
    }
    return read();
}

void talk(Chat& chat, const Writer& writer) {
    std::int64_t messages = 0;
    std::int64_t failed = 0;
    for (std::string message; read_message(writer, message);) {
        if (message.find_first_not_of(" \t\r") == std::string::npos) {
            continue;
        }
        ++messages;
        try {
            chat.answer(message);
        } catch (const Error& error) {
            ++failed;
            log_error(fmt::format("headscope: {}", error.what()));
        }
    }
    if (writer.present) {
        write_output(writer.asked ? "\n" : "");
    } else if (failed > 0) {
        throw Error(fmt::format("{} of {} messages got no reply", failed, messages));
    }
}

// The given options over the model's.
DecodingOptions decoding_of(const ChatOptions& options, const DecodingOptions& model) {
    DecodingChoices choices = options.choices;
    choices.max_extra = choices.max_extra.value_or(kMostTokens);
    choices.max_length = 0;  // which counts the prompt
    DecodingOptions decoding = choices.applied_to(model);
    check_search_options(decoding.search);
    return decoding;
}

void chat(const ChatOptions& options) {
    const bool asks = ::isatty(STDIN_FILENO) == 1;
    if (asks) {
        hold_interrupts();
    }
    InputFiles inputs(options.common.open.settings);
    inputs.add(options.common.find_models());
    inputs.refuse("-");
    check_choices(options.choices);  // before the model is opened
    if (options.choices.max_extra == 0) {
        throw UsageError("--max-tokens must be 1 or more: a reply has at least one token");
    }
    OpenedEngine opened(options.common, options.common.find_models(), log_of_command);
    const ModelDirectory& model = opened.directory();
    ChatEncoder encoder = chat_encoder(model, options.chat_template);
    const DecodingOptions usual = opened.model->choices().applied_to(default_decoding_options(Architecture::CausalLm));
    DecodingOptions decoding = decoding_of(options, usual);
    decoding.search.ends = reply_ends(std::move(decoding.search.ends), encoder, model.config);
    Chat chat(options, std::move(decoding), std::move(encoder), opened);
    talk(chat, {.present = asks, .asked = asks && !options.common.json && ::isatty(STDOUT_FILENO) == 1});
}

}  // namespace

void add_chat_command(CLI::App& app, const OpenOptions& open_options) {
    auto options = std::make_shared<ChatOptions>();
    options->common.open = open_options;
    options->common.bundled_model = kCausalModel;
    CLI::App* command = app.add_subcommand("chat", "Talk with a causal language model that was trained to answer")
                            ->group("Language models");
    command->footer(
        "Asks for messages on a terminal, or reads one from each line of standard input, and writes\n"
        "the replies as they grow. A line without text is passed over. Messages become a prompt by the\n"
        "model's chat template, which imported files have, too, or by --template. What they say cannot\n"
        "open or end a turn. When the model's context is full, the oldest exchanges are left out. Ctrl-C\n"
        "ends a reply; between replies it ends the program, as does Ctrl-D.\n\n"
        "Examples:\n"
        "  headscope chat --model out/sft\n"
        "  headscope chat --model out/sft --system 'Answer in one sentence.' --sample --temperature 0.7 --top-p 0.9\n"
        "  headscope chat --model out/sft --json < messages.txt");
    command->option_defaults()->group("Data");
    command->add_option("--system", options->system, "System message of the conversation")
        ->type_name("TEXT")
        ->check(not_empty);
    add_chat_template(*command, options->chat_template);
    options->common.add_models(*command);
    options->common.add_device_list(*command);
    options->common.add_precision(*command);
    command->option_defaults()->group("Decoding");
    add_decoding_flags(*command, options->choices,
                       {"max_extra", "sample", "temperature", "top_k", "top_p", "min_p", "seed", "stop", "beam",
                        "min_length", "no_repeat_ngram", "repetition_penalty"},
                       kCompletes);
    command->get_option("--max-tokens")->default_str(std::to_string(kMostTokens));
    add_output(*command);
    options->common.add_json(*command);
    command->callback([options] { chat(*options); });
}

}  // namespace headscope
