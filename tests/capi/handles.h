// Handles of the C library that free themselves, for tests of what it does.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headscope/headscope.h>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace headscope_tests {

template <class Object, auto free>
class Out {
public:
    Object** operator&() { return &object_; }  // NOLINT(google-runtime-operator): for out-parameters
    Object* get() const { return object_; }
    Out() = default;
    Out(Out&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    Out& operator=(Out&&) = delete;
    ~Out() { free(object_); }
    void reset() { free(std::exchange(object_, nullptr)); }

private:
    Object* object_ = nullptr;
};
using Engine = Out<hs_engine, hs_engine_close>;
using Model = Out<hs_model, hs_model_close>;
using Request = Out<hs_request, hs_request_free>;
using Result = Out<hs_result, hs_result_free>;
using Record = Out<hs_record, hs_record_free>;
using Buffer = Out<hs_buffer, hs_buffer_free>;
using Training = Out<hs_training, hs_training_free>;
using Problem = Out<hs_error, hs_error_free>;

inline std::string text_of(hs_text text) {
    return {text.data, text.size};
}
inline hs_text text(std::string_view from) {
    return {from.data(), from.size()};
}
inline nlohmann::json json_of(const Buffer& buffer) {
    return nlohmann::json::parse(text_of(hs_buffer_bytes(buffer.get())));
}
inline std::string message_of(const Problem& problem) {
    return text_of(hs_error_message(problem.get()));
}

// From a JSON object.
class Options {
public:
    explicit Options(const nlohmann::json& values) : options_(hs_options_new()) {
        for (const auto& [key, value] : values.items()) {
            Problem problem;
            const std::string json = value.dump();
            const hs_status status = hs_options_set_json(options_, key.c_str(), text(json), &problem);
            INFO(message_of(problem));
            REQUIRE(status == HS_OK);
        }
    }
    Options(const Options&) = delete;
    Options& operator=(const Options&) = delete;
    ~Options() { hs_options_free(options_); }
    hs_options* get() const { return options_; }

private:
    hs_options* options_;
};

inline Options chosen(const nlohmann::json& values) {
    return Options(values);
}

// An engine on the CPU that all tests share, and the bundled models.
inline hs_engine* shared_engine() {
    static const Engine engine = [] {
        Engine opened;
        Problem problem;
        REQUIRE(hs_engine_open(HS_ABI, chosen({{"devices", {"cpu"}}}).get(), nullptr, nullptr, &opened, &problem) ==
                HS_OK);
        return opened;
    }();
    return engine.get();
}
inline Model opened(const char* name, hs_engine* engine = shared_engine()) {
    Model model;
    Problem problem;
    const hs_text place = text(name);
    const hs_status status =
        hs_model_open(engine, &place, 1, chosen({{"path", {HEADSCOPE_SOURCE_DIR "/assets"}}}).get(), &model, &problem);
    INFO(message_of(problem));
    REQUIRE(status == HS_OK);
    return model;
}

using Texts = std::vector<std::string>;
inline std::vector<hs_text> texts(const Texts& from) {
    std::vector<hs_text> all;
    for (const std::string& each : from) {
        all.push_back(text(each));
    }
    return all;
}

struct Asked {
    hs_status status = HS_OK;
    std::string message = {};
    Request request = {};
};
inline Asked submit(const Model& model, int kind, const Texts& inputs, const nlohmann::json& options = {},
                    const Texts* targets = nullptr) {
    Asked asked;
    Problem problem;
    const Options given(options);
    const std::vector<hs_text> from = texts(inputs);
    const std::vector<hs_text> to = targets == nullptr ? std::vector<hs_text>() : texts(*targets);
    asked.status = hs_submit(model.get(), kind, from.data(), targets == nullptr ? nullptr : to.data(), from.size(),
                             given.get(), &asked.request, &problem);
    asked.message = message_of(problem);
    return asked;
}

// Waits for the result, which there must be.
inline Result result_of(const Asked& asked) {
    INFO(asked.message);
    REQUIRE(asked.status == HS_OK);
    Result result;
    Problem problem;
    const hs_status status = hs_request_wait(asked.request.get(), 60'000, &result, &problem);
    INFO(message_of(problem));
    REQUIRE(status == HS_OK);
    return result;
}
inline nlohmann::json answers(const Result& result) {
    Buffer json;
    REQUIRE(hs_result_json(result.get(), &json, nullptr) == HS_OK);
    return json_of(json);
}
inline std::string first_text(const Result& result) {
    return text_of(hs_result_text(result.get(), 0, 0));
}
inline hs_array array_of(const Result& result, const char* name) {
    hs_array array{};
    array.size = sizeof(hs_array);
    Problem problem;
    const hs_status status = hs_result_array(result.get(), 0, 0, name, &array, &problem);
    INFO(message_of(problem));
    REQUIRE(status == HS_OK);
    return array;
}

}  // namespace headscope_tests
