#include "text/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>
#include <utility>

#include <fmt/format.h>

#include "support/check.h"
#include "text/oniguruma.h"

namespace headscope {

namespace {

constexpr std::uint32_t kMostSteps = 10'000'000;  // of one match
constexpr std::uint32_t kMostMemory = 64 * 1024;  // KiB
constexpr std::size_t kFirstStack = 32 * 1024, kMostStack = 8 * 1024 * 1024;

template <class T, void (*release)(T*)>
struct Release {
    void operator()(T* object) const { release(object); }
};
template <class T, void (*release)(T*)>
using Owned = std::unique_ptr<T, Release<T, release>>;

// What a thread needs for matching.
struct Matcher {
    Owned<pcre2_match_data, pcre2_match_data_free> data{pcre2_match_data_create(1, nullptr)};
    Owned<pcre2_match_context, pcre2_match_context_free> context{pcre2_match_context_create(nullptr)};
    Owned<pcre2_jit_stack, pcre2_jit_stack_free> stack{pcre2_jit_stack_create(kFirstStack, kMostStack, nullptr)};

    Matcher() {
        HEADSCOPE_CHECK(data != nullptr && context != nullptr, "no memory for regular expressions");
        pcre2_set_match_limit(context.get(), kMostSteps);
        pcre2_set_heap_limit(context.get(), kMostMemory);
        pcre2_jit_stack_assign(context.get(), nullptr, stack.get());
    }
};

std::string message_of(int code) {
    std::array<PCRE2_UCHAR, 256> text{};
    pcre2_get_error_message(code, text.data(), text.size());
    return reinterpret_cast<const char*>(text.data());
}

std::size_t next_character_begin(std::string_view text, std::size_t at) {
    do {
        ++at;
    } while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U);
    return at;
}

}  // namespace

Regex::Regex(std::string_view pattern, std::string place, Syntax syntax) : place_(std::move(place)) {
    const bool literal = syntax == Syntax::Literal;
    const std::string translated = literal ? std::string(pattern) : pcre2_pattern(pattern, place_);
    const Owned<pcre2_compile_context, pcre2_compile_context_free> context(pcre2_compile_context_create(nullptr));
    HEADSCOPE_CHECK(context != nullptr, "no memory for regular expressions");
    pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
    int problem = 0;
    PCRE2_SIZE at = 0;
    pcre2_code* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
                                     literal ? PCRE2_UTF | PCRE2_LITERAL : PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE,
                                     &problem, &at, context.get());
    if (code == nullptr) {
        throw Error(fmt::format("{} is no regular expression: {}, before '{}'", place_, message_of(problem),
                                translated.substr(at, 20)));
    }
    code_ = std::shared_ptr<const void>(code, [code](const void*) { pcre2_code_free(code); });
    compiled_ = pcre2_jit_compile(code, PCRE2_JIT_COMPLETE) == 0;  // where that is not possible, matching is slower
}

std::vector<ByteSpan> Regex::matches(std::string_view text) const {
    thread_local const Matcher matcher;
    const auto* code = static_cast<const pcre2_code*>(code_.get());
    const auto match_from = compiled_ ? &pcre2_jit_match : &pcre2_match;
    std::vector<ByteSpan> found;
    found.reserve(text.size() / 4 + 1);
    for (std::size_t at = 0; at <= text.size();) {
        const int result = match_from(code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), at,
                                      PCRE2_NO_UTF_CHECK, matcher.data.get(), matcher.context.get());
        if (result == PCRE2_ERROR_NOMATCH) {
            break;
        }
        if (result < 0) {
            throw Error(fmt::format("{} cannot be matched with a text of {} bytes, at byte {}: {}", place_, text.size(),
                                    at, message_of(result)));
        }
        const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(matcher.data.get());
        const ByteSpan match{ends[0], ends[1]};
        const bool empty = match.begin == match.end;
        if (!empty || found.empty() || found.back().end != match.end) {
            found.push_back(match);
        }
        at = empty ? next_character_begin(text, match.end) : match.end;
    }
    return found;
}

}  // namespace headscope
