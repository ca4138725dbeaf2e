// Text to train small tokenizers on: generated German number words.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace headscope {

inline std::string german_number(int number) {  // 0 to 999
    static const std::array<const char*, 13> kSmall{"null",   "eins", "zwei", "drei", "vier", "fünf", "sechs",
                                                    "sieben", "acht", "neun", "zehn", "elf",  "zwölf"};
    static const std::array<const char*, 10> kTens{"",        "zehn",    "zwanzig", "dreißig", "vierzig",
                                                   "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig"};
    if (number >= 100) {
        const std::string rest = number % 100 == 0 ? "" : german_number(number % 100);
        return (number / 100 == 1 ? "ein" : kSmall[static_cast<std::size_t>(number / 100)]) + std::string("hundert") +
               rest;
    }
    if (number <= 12) {
        return kSmall[static_cast<std::size_t>(number)];
    }
    const std::string tens = kTens[static_cast<std::size_t>(number / 10)];
    if (number < 20) {
        return kSmall[static_cast<std::size_t>(number % 10)] + tens;
    }
    const std::string unit = number % 10 == 1 ? "ein" : kSmall[static_cast<std::size_t>(number % 10)];
    return number % 10 == 0 ? tens : unit + "und" + tens;
}

inline std::vector<std::string> number_sentences(int count = 400) {
    std::vector<std::string> sentences;
    for (int i = 0; i < count; ++i) {
        sentences.push_back("Die Zahl " + std::to_string(i * 7 % 1000) + " heißt " + german_number(i * 7 % 1000) + ".");
    }
    return sentences;
}

}  // namespace headscope
