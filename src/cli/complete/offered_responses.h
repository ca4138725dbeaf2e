// The responses that a person is to compare: those of a file, or samples of a model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/opened_engine.h"
#include "data/response_encoder.h"
#include "data/response_reader.h"
#include "infer/decoding_choices.h"
#include "options/common_options.h"

namespace headscope {

inline constexpr std::int64_t kMostOffered = 64;  // tokens of a response, unless the user gives another number

struct OfferOptions {
    CommonOptions common;
    std::string chat_template;
    DecodingChoices choices;
    int samples = 2;
};

class Offers {
public:
    Offers(const OfferOptions& options, const std::string& prompts);

    std::size_t prompts() const { return prompts_.size(); }
    std::string key(std::size_t i) const { return prompt_key(prompts_[i].responses); }
    const std::string& place(std::size_t i) const { return prompts_[i].place; }
    std::optional<std::size_t> find(const std::string& key) const;
    // Each different response once, in an order that tells nothing. The same for the same seed. The model is opened
    // when the first prompt without responses needs it, and writes those of the next prompt meanwhile.
    Responses responses(std::size_t i);

private:
    struct Prompt {
        Responses responses;
        std::string place;
        std::vector<Ticket<TextRequest>> asked = {};
    };
    bool needs_samples(std::size_t i) const { return i < prompts_.size() && prompts_[i].responses.texts.empty(); }
    void ask(std::size_t i);

    const OfferOptions& options_;
    DecodingChoices choices_;
    std::vector<Prompt> prompts_;
    std::map<std::string, std::size_t> numbers_;  // by key
    std::unique_ptr<OpenedEngine> opened_;
    std::optional<ResponseEncoder> encoder_;
    DecodingOptions decoding_;
};

}  // namespace headscope
