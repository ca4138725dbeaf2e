// The table of chat templates.
#include <algorithm>
#include <array>
#include <iterator>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/check.h"
#include "text/chat_template.h"

namespace headscope {

namespace {

using Texts = std::span<const char* const>;

constexpr std::array kPlain{"<user>", "<assistant>", "<end>"};
constexpr std::array kChatMl{"<|im_start|>", "<|im_end|>"};
constexpr std::array kThinking{"<|im_start|>", "<|im_end|>", "<think>", "</think>"};
constexpr std::array kSentence{"<s>", "</s>"};
constexpr std::array kSentenceEnd{"</s>"};
constexpr std::array kInstruct{"[INST]", "[/INST]"};
constexpr std::array kInstructWithSystem{"[INST]", "[/INST]", "<<SYS>>", "<</SYS>>"};
constexpr std::array kLlama3{"<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"};
constexpr std::array kGemma{"<bos>", "<start_of_turn>", "<end_of_turn>"};
constexpr std::array kPhi3{"<|system|>", "<|user|>", "<|assistant|>", "<|end|>", "<|endoftext|>"};
constexpr std::array kRoleMarkers{"<|system|>", "<|user|>", "<|assistant|>"};
constexpr std::array kTextEnd{"<|endoftext|>"};

constexpr ChatTemplate chatml_with(const char* name, const char* usual_system, Texts signs, Texts other_signs = {}) {
    return {.name = name,
            .pieces = kChatMl,
            .system = {"<|im_start|>system\n", "<|im_end|>\n"},
            .user = {"<|im_start|>user\n", "<|im_end|>\n"},
            .reply = {"<|im_start|>assistant\n", "<|im_end|>"},
            .usual_system = usual_system,
            .after_reply = "\n",
            .signs = signs,
            .other_signs = other_signs};
}

constexpr ChatTemplate thinking(ChatTemplate chat) {
    chat.pieces = kThinking;
    chat.thinks = true;
    return chat;
}

constexpr ChatTemplate llama3_with(const char* name, const char* system_lead, Texts signs, Texts other_signs) {
    return {.name = name,
            .pieces = kLlama3,
            .begin = "<|begin_of_text|>",
            .system = {"<|start_header_id|>system<|end_header_id|>\n\n", "<|eot_id|>"},
            .user = {"<|start_header_id|>user<|end_header_id|>\n\n", "<|eot_id|>"},
            .reply = {"<|start_header_id|>assistant<|end_header_id|>\n\n", "<|eot_id|>"},
            .system_lead = system_lead,
            .trim = ChatTrim::All,
            .signs = signs,
            .other_signs = other_signs};
}

constexpr ChatTemplate instruct_with(const char* name, ChatTurn user, SystemPlace place, ChatTrim trim, Texts signs,
                                     Texts other_signs) {
    return {.name = name,
            .pieces = kSentence,
            .words = kInstruct,
            .begin = "<s>",
            .system = {"", "\n\n"},
            .user = user,
            .reply = {"", "</s>"},
            .system_place = place,
            .reply_lead = " ",
            .trim = trim,
            .signs = signs,
            .other_signs = other_signs};
}

// The signs of the Jinja source are compared after its quotes and line breaks are made equal (unquoted()).
constexpr std::array kChatMlSigns{"<|im_start|>", "<|im_end|>"};
constexpr std::array kChatMlOthers{"You are", "bos_token", "trim", "<think>", "</think>", "<tool_call>", "image"};
constexpr std::array kQwen3Signs{"<|im_start|>", "'</think>'", "enable_thinking", "last_query_index"};
constexpr std::array kQwen3Others{"|trim", "| trim"};
constexpr std::array kSmolSigns{"named SmolLM, trained by Hugging Face<|im_end|>"};
constexpr std::array kQwen2Signs{"<|im_start|>system\nYou are a helpful assistant.<|im_end|>"};
constexpr std::array kQwen25Signs{
    "<|im_start|>system\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant.<|im_end|>"};
constexpr std::array kLlama2Signs{"<<SYS>>\n", "[INST] ", "strip()"};
constexpr std::array kLlama3Signs{"<|start_header_id|>", "<|eot_id|>", "trim"};
constexpr std::array kLlama31Signs{"<|start_header_id|>", "<|eot_id|>", "Cutting Knowledge Date: December 2023\n"};
constexpr std::array kLlama3Others{"Cutting Knowledge Date", "You are", "tools"};
constexpr std::array kGemmaSigns{"<start_of_turn>", "<end_of_turn>", "bos_token", "role = 'model'", "| trim"};
constexpr std::array kGemmaOthers{"+ '\n' -%"};
constexpr std::array kMistralSigns{"' [INST] '", "' [/INST]'", "loop.first and system_message"};
constexpr std::array kMistral3Signs{"'[INST] '", "'[/INST]'", "loop.last and system_message",
                                    "message['content']|trim + eos_token"};
constexpr std::array kMistralOthers{"<<SYS>>", "[SYSTEM_PROMPT]"};
constexpr std::array kPhi3Signs{"<|user|>\n", "<|end|>\n", "<|assistant|>\n"};
constexpr std::array kPhi3Others{"bos_token", "trim"};
constexpr std::array kZephyrSigns{"'<|user|>\n' + message['content'] + eos_token"};
constexpr std::array kOlmoSigns{"'<|user|>\n' + message['content'] + '\n'", "bos_token", "loop.last"};

constexpr std::array kTemplates{
    ChatTemplate{.name = "plain",
                 .pieces = kPlain,
                 .begins_as_texts = true,
                 .system = {"", "\n"},
                 .user = {"<user>", "<end>"},
                 .reply = {"<assistant>", "<end>"},
                 .system_place = SystemPlace::FirstUser},
    chatml_with("chatml", "", kChatMlSigns, kChatMlOthers),
    chatml_with("smollm", "You are a helpful AI assistant named SmolLM, trained by Hugging Face", kSmolSigns),
    chatml_with("qwen2", "You are a helpful assistant.", kQwen2Signs),
    chatml_with("qwen2.5", "You are Qwen, created by Alibaba Cloud. You are a helpful assistant.", kQwen25Signs),
    thinking(chatml_with("qwen3", "", kQwen3Signs, kQwen3Others)),
    ChatTemplate{.name = "llama2",
                 .pieces = kSentence,
                 .words = kInstructWithSystem,
                 .system = {"<<SYS>>\n", "\n<</SYS>>\n\n"},
                 .user = {"<s>[INST] ", " [/INST]"},
                 .reply = {"", " </s>"},
                 .system_place = SystemPlace::FirstUser,
                 .reply_lead = " ",
                 .trim = ChatTrim::All,
                 .signs = kLlama2Signs},
    llama3_with("llama3", "", kLlama3Signs, kLlama3Others),
    // The date is the one that the source has for programs that give none.
    llama3_with("llama3.1", "Cutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\n", kLlama31Signs, {}),
    ChatTemplate{.name = "gemma",
                 .pieces = kGemma,
                 .begin = "<bos>",
                 .system = {"", "\n\n"},
                 .user = {"<start_of_turn>user\n", "<end_of_turn>\n"},
                 .reply = {"<start_of_turn>model\n", "<end_of_turn>"},
                 .system_place = SystemPlace::FirstUser,
                 .after_reply = "\n",
                 .trim = ChatTrim::All,
                 .signs = kGemmaSigns,
                 .other_signs = kGemmaOthers},
    instruct_with("mistral", {" [INST] ", " [/INST]"}, SystemPlace::FirstUser, ChatTrim::None, kMistralSigns,
                  kMistralOthers),
    // The source loses the system message where a reply is the last.
    instruct_with("mistral3", {"[INST] ", "[/INST]"}, SystemPlace::LastUser, ChatTrim::Replies, kMistral3Signs,
                  kMistralOthers),
    ChatTemplate{.name = "phi3",
                 .pieces = kPhi3,
                 .system = {"<|system|>\n", "<|end|>\n"},
                 .user = {"<|user|>\n", "<|end|>\n"},
                 .reply = {"<|assistant|>\n", "<|end|>"},
                 .after_reply = "\n",
                 .end = "<|endoftext|>",
                 .signs = kPhi3Signs,
                 .other_signs = kPhi3Others},
    ChatTemplate{.name = "zephyr",
                 .pieces = kSentenceEnd,
                 .words = kRoleMarkers,
                 .system = {"<|system|>\n", "</s>\n"},
                 .user = {"<|user|>\n", "</s>\n"},
                 .reply = {"<|assistant|>\n", "</s>"},
                 .after_reply = "\n",
                 .signs = kZephyrSigns},
    ChatTemplate{.name = "olmo",
                 .pieces = kTextEnd,
                 .words = kRoleMarkers,
                 .begin = "<|endoftext|>",
                 .system = {"<|system|>\n", "\n"},
                 .user = {"<|user|>\n", "\n"},
                 .reply = {"<|assistant|>\n", "<|endoftext|>"},
                 .after_reply = "\n",
                 .after_last = false,
                 .signs = kOlmoSigns},
};

// Jinja's escapes and both kinds of quotes, each in one form.
std::string unquoted(std::string_view jinja) {
    std::string text;
    for (std::size_t at = 0; at < jinja.size(); ++at) {
        const bool is_break = jinja.substr(at, 2) == "\\n";
        text += is_break ? '\n' : jinja[at] == '"' ? '\'' : jinja[at];
        at += is_break ? 1 : 0;
    }
    return text;
}

}  // namespace

std::vector<std::string> chat_template_names() {
    std::vector<std::string> names;
    std::ranges::transform(kTemplates, std::back_inserter(names), &ChatTemplate::name);
    return names;
}

const ChatTemplate& chat_template(std::string_view name) {
    const auto* found = std::ranges::find_if(kTemplates, [&](const ChatTemplate& chat) { return name == chat.name; });
    if (found == kTemplates.end()) {
        throw Error(
            fmt::format("there is no chat template '{}'; known are {}", name, fmt::join(chat_template_names(), ", ")));
    }
    return *found;
}

const ChatTemplate* recognise_chat_template(std::string_view jinja) {
    const std::string text = unquoted(jinja);
    const auto has = [&](const char* sign) { return text.find(sign) != std::string::npos; };
    const auto* found = std::ranges::find_if(kTemplates, [&](const ChatTemplate& chat) {
        return !chat.signs.empty() && std::ranges::all_of(chat.signs, has) &&
               std::ranges::none_of(chat.other_signs, has);
    });
    return found == kTemplates.end() ? nullptr : found;
}

}  // namespace headscope
