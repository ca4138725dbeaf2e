// headscope chat: talks with a causal language model that was trained to answer.
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "answers/end_name.h"
#include "answers/json_output.h"
#include "cli/command.h"
#include "cli/opened_engine.h"
#include "cli/stop_signal.h"
#include "engine/talk.h"
#include "io/input_files.h"
#include "options/decoding_flags.h"
#include "options/option_values.h"
#include "options/text_options.h"
#include "support/check.h"
#include "support/usage_error.h"

namespace headscope {
namespace {

using Json = nlohmann::ordered_json;

struct ChatOptions {
    CommonOptions common;
    TalkOptions talk;
};

// A late interrupt is of the reply that has just ended, too.
struct LateInterrupts {
    LateInterrupts() = default;
    LateInterrupts(const LateInterrupts&) = delete;
    LateInterrupts& operator=(const LateInterrupts&) = delete;
    ~LateInterrupts() {
        while (take_interrupt()) {
        }
    }
};

// Talks, and writes the replies.
class Chat {
public:
    Chat(const ChatOptions& options, OpenedEngine& opened)
        : json_(options.common.json), talk_(opened.engine, opened.model, options.talk) {}

    void answer(const std::string& message) {
        const bool streams = talk_.decoding().search.beam == 1 && !json_;
        std::size_t written = 0;  // bytes of the reply
        const LateInterrupts forgotten;
        const Talk::Reply reply = talk_.answer(message, [&](std::string_view so_far) {
            if (streams && so_far.size() > written) {  // no later token changes earlier ones
                write_output(std::string(so_far.substr(written)));
                written = so_far.size();
            }
            return !take_interrupt();
        });
        write_output(json_ ? json_row(Json{{"turn", talk_.turn()},
                                           {"message", message},
                                           {"reply", reply.text},
                                           {"end", reply.end ? name_of(*reply.end) : "interrupted"},
                                           {"prompt_tokens", reply.prompt_tokens},
                                           {"tokens", reply.tokens},
                                           {"left_out", talk_.conversation().left_out()}})
                           : reply.text.substr(std::min(written, reply.text.size())) + "\n");
    }

private:
    const bool json_;
    Talk talk_;
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

void chat(const ChatOptions& options) {
    const bool asks = ::isatty(STDIN_FILENO) == 1;
    if (asks) {
        hold_interrupts();
    }
    InputFiles inputs(options.common.open.settings);
    inputs.add(options.common.find_models());
    inputs.refuse("-");
    check_choices(options.talk.choices);  // before the model is opened
    if (options.talk.choices.max_extra == 0) {
        throw UsageError("--max-tokens must be 1 or more: a reply has at least one token");
    }
    OpenedEngine opened(options.common, options.common.find_models(), log_of_command);
    Chat chat(options, opened);
    talk(chat, {.present = asks, .asked = asks && !options.common.json && ::isatty(STDOUT_FILENO) == 1});
}

}  // namespace

void add_chat_command(CLI::App& app, const OpenOptions& open_options) {
    auto options = std::make_shared<ChatOptions>();
    options->common.open = open_options;
    options->common.bundled_model = kCausalModel;
    options->talk.note = [](const std::string& text) { log_line(fmt::format("headscope: {}", text)); };
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
    command->add_option("--system", options->talk.system, "System message of the conversation")
        ->type_name("TEXT")
        ->check(not_empty);
    add_chat_template(*command, options->talk.chat_template);
    options->common.add_models(*command);
    options->common.add_device_list(*command);
    options->common.add_precision(*command);
    command->option_defaults()->group("Decoding");
    add_decoding_flags(*command, options->talk.choices,
                       {"max_extra", "sample", "temperature", "top_k", "top_p", "min_p", "seed", "stop", "beam",
                        "min_length", "no_repeat_ngram", "repetition_penalty"},
                       kCompletes);
    command->get_option("--max-tokens")->default_str(std::to_string(Talk::kMostTokens));
    add_output(*command);
    options->common.add_json(*command);
    command->callback([options] { chat(*options); });
}

}  // namespace headscope
