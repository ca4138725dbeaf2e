#include "train/digits_task.h"

#include <array>

#include <fmt/format.h>

#include "support/check.h"
#include "support/random.h"

namespace headscope {
namespace {

constexpr std::array<const char*, 20> kBelowTwenty = {
    "null", "ein", "zwei",  "drei",     "vier",     "fünf",     "sechs",    "sieben",   "acht",     "neun",
    "zehn", "elf", "zwölf", "dreizehn", "vierzehn", "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn"};
constexpr std::array<const char*, 10> kTens = {"",        "",        "zwanzig", "dreißig", "vierzig",
                                               "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig"};

// 1 .. 999. A final one is "ein", as needed before "tausend".
std::string below_thousand(std::int64_t number) {
    std::string words;
    if (number >= 100) {
        words = std::string(kBelowTwenty[static_cast<std::size_t>(number / 100)]) + "hundert";
        number %= 100;
    }
    if (number >= 20) {
        const auto ones = static_cast<std::size_t>(number % 10);
        words += ones == 0 ? "" : std::string(kBelowTwenty[ones]) + "und";
        words += kTens[static_cast<std::size_t>(number / 10)];
    } else if (number > 0) {
        words += kBelowTwenty[static_cast<std::size_t>(number)];
    }
    return words;
}

}  // namespace

std::string german_number(std::int64_t number) {
    HEADSCOPE_CHECK(number >= 0 && number < kDigitsLimit, "0 .. 999999");
    if (number == 0) {
        return "null";
    }
    std::string words;
    if (number >= 1000) {
        words = below_thousand(number / 1000) + "tausend";
    }
    words += below_thousand(number % 1000);
    if (number % 100 == 1) {
        words += "s";  // "eins" at the end, "ein" before another word
    }
    return words;
}

DigitsPair digits_pair(std::int64_t number) {
    std::string spaced;
    for (const char digit : std::to_string(number)) {
        spaced += spaced.empty() ? "" : " ";
        spaced += digit;
    }
    return {spaced, german_number(number)};
}

std::vector<DigitsPair> make_digits_task(std::int64_t pairs, std::uint64_t seed) {
    if (pairs < 1 || pairs > kDigitsLimit) {
        throw Error(fmt::format("the digits task has 1 to {} pairs, got {}", kDigitsLimit, pairs));
    }
    constexpr int kLengths = 6;
    std::array<std::int64_t, kLengths + 1> first = {0};  // numbers of i + 1 digits are first[i] .. first[i + 1] - 1
    std::array<std::int64_t, kLengths> left = {};
    for (int i = 0; i < kLengths; ++i) {
        first[i + 1] = i == 0 ? 10 : first[i] * 10;
        left[i] = first[i + 1] - first[i];
    }
    Random random(seed);
    std::vector<bool> taken(
        static_cast<std::size_t>(kDigitsLimit));  // by number; the last numbers of a length need many draws
    std::vector<DigitsPair> result;
    while (static_cast<std::int64_t>(result.size()) < pairs) {
        const auto length = static_cast<std::size_t>(random.below(kLengths));
        if (left[length] == 0) {
            continue;
        }
        const auto span = static_cast<std::uint64_t>(first[length + 1] - first[length]);
        const std::int64_t number = first[length] + static_cast<std::int64_t>(random.below(span));
        if (!taken[static_cast<std::size_t>(number)]) {
            taken[static_cast<std::size_t>(number)] = true;
            --left[length];
            result.push_back(digits_pair(number));
        }
    }
    return result;
}

}  // namespace headscope
