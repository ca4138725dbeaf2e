// The C library for C++17 and later: handles that free themselves, errors as exceptions. Header only, and as stable as
// headscope.h, which documents what each function does.
//
//   hs::Engine engine;
//   hs::Model model = engine.open("en-de");
//   std::cout << model.translate("The weather is nice today.") << "\n";
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <headscope/headscope.h>

namespace hs {

// What a function of the library reports.
class Failure : public std::runtime_error {
public:
    Failure(hs_status status, const std::string& message, double retry_after = 0.0)
        : std::runtime_error(message), status_(status), retry_after_(retry_after) {}
    hs_status status() const { return status_; }
    double retry_after() const { return retry_after_; }  // HS_BUSY: seconds until there is room

private:
    hs_status status_;
    double retry_after_;
};

namespace detail {

template <auto free>
struct Free {
    template <class Object>
    void operator()(Object* object) const {
        free(object);
    }
};
template <class Object, auto free>
using Owned = std::unique_ptr<Object, Free<free>>;

inline hs_text text(std::string_view of) {
    return {of.data() == nullptr ? "" : of.data(), of.size()};
}
inline std::string copy(hs_text of) {
    return {of.data, of.size};
}

// Calls a function with the place for its error last. HS_AGAIN and HS_END are returned.
template <class Function, class... Arguments>
hs_status call(Function function, Arguments... arguments) {
    hs_error* error = nullptr;
    const hs_status status = function(arguments..., &error);
    const Owned<hs_error, hs_error_free> owned(error);
    if (status != HS_OK && status != HS_AGAIN && status != HS_END) {
        throw Failure(status, copy(hs_error_message(error)), hs_error_retry_after(error));
    }
    return status;
}

// The text that a function gives.
template <class Function, class... Arguments>
std::string bytes(Function function, Arguments... arguments) {
    hs_buffer* buffer = nullptr;
    call(function, arguments..., &buffer);
    const Owned<hs_buffer, hs_buffer_free> owned(buffer);
    return copy(hs_buffer_bytes(buffer));
}

}  // namespace detail

// Changes the values of a site in place. An exception fails the input.
using Hook = std::function<void(std::string_view site, float* values, const std::vector<std::int64_t>& shape)>;

// Options by key. Values are numbers, texts, booleans, or JSON by json().
class Options {
public:
    Options() : options_(hs_options_new()) {
        if (options_ == nullptr) {
            throw std::bad_alloc();
        }
    }
    // A number, a boolean or a text.
    template <class Value>
    Options& set(const char* key, const Value& value) & {
        put(key, value);
        return *this;
    }
    template <class Value>
    Options set(const char* key, const Value& value) && {
        put(key, value);
        return std::move(*this);
    }
    // A value as JSON.
    Options& json(const char* key, std::string_view value) & {
        detail::call(hs_options_set_json, options_.get(), key, detail::text(value));
        return *this;
    }
    Options json(const char* key, std::string_view value) && {
        static_cast<Options&>(*this).json(key, value);
        return std::move(*this);
    }
    // Of HS_RUN: hs_options_patch() with an array [.., positions, columns].
    Options& patch(const char* site, const std::vector<float>& values, const std::vector<std::int64_t>& shape,
                   std::int64_t head = 0, std::int64_t first = 0) {
        hs_array array{};
        array.size = sizeof(hs_array);
        array.type = HS_FLOAT32;
        array.data = values.data();
        std::size_t count = 1;
        for (const std::int64_t length : shape) {
            if (array.rank == 6) {
                throw Failure(HS_INVALID, "a patch has at most 6 dimensions");
            }
            array.shape[array.rank++] = length;
            count *= static_cast<std::size_t>(length);
        }
        if (count != values.size()) {
            throw Failure(HS_INVALID, "a patch must have as many values as its shape says");
        }
        detail::call(hs_options_patch, options_.get(), site, static_cast<const hs_array*>(&array), head, first);
        return *this;
    }
    // Of HS_RUN: hs_options_hook(). The requests that are asked with these options keep the function.
    Options& hook(const char* site, Hook hook) {
        const hs_hook_function run = [](void* user, const char* of, float* values, const hs_array* shape) -> hs_status {
            try {
                (*static_cast<Hook*>(user))(of, values, {shape->shape, shape->shape + shape->rank});
                return HS_OK;
            } catch (...) {
                return HS_FAILED;
            }
        };
        auto kept = std::make_shared<Hook>(std::move(hook));
        detail::call(hs_options_hook, options_.get(), site, run, static_cast<void*>(kept.get()));
        hooks_.push_back(std::move(kept));
        return *this;
    }
    const hs_options* get() const { return options_.get(); }
    hs_options* get() { return options_.get(); }
    const std::vector<std::shared_ptr<Hook>>& hooks() const { return hooks_; }

private:
    template <class Value>
    void put(const char* key, const Value& value) {
        if constexpr (std::is_integral_v<Value>) {
            detail::call(hs_options_set_integer, options_.get(), key, static_cast<std::int64_t>(value));
        } else if constexpr (std::is_floating_point_v<Value>) {
            detail::call(hs_options_set_number, options_.get(), key, static_cast<double>(value));
        } else {
            detail::call(hs_options_set_text, options_.get(), key, detail::text(std::string_view(value)));
        }
    }
    detail::Owned<hs_options, hs_options_free> options_;
    std::vector<std::shared_ptr<Hook>> hooks_;
};

// Numbers that a result or record lends; it must outlive them.
template <class Value>
struct Array {
    const Value* data = nullptr;
    std::vector<std::int64_t> shape;
};

namespace detail {

template <class Value>
constexpr std::int32_t kType = 0;
template <>
inline constexpr std::int32_t kType<float> = HS_FLOAT32;
template <>
inline constexpr std::int32_t kType<double> = HS_FLOAT64;
template <>
inline constexpr std::int32_t kType<std::int32_t> = HS_INT32;
template <>
inline constexpr std::int32_t kType<std::int64_t> = HS_INT64;

template <class Value>
Array<Value> array(const hs_array& from, const std::string& name) {
    if (from.type != kType<Value>) {
        throw Failure(HS_INVALID, name + " has numbers of another type: see headscope.h");
    }
    return {static_cast<const Value*>(from.data), {from.shape, from.shape + from.rank}};
}
inline hs_array empty_array() {
    hs_array array{};
    array.size = sizeof(hs_array);
    return array;
}

}  // namespace detail

// Attention of a text. Cheap to copy.
class Record {
public:
    explicit Record(hs_record* record) : record_(record, hs_record_free) {}

    std::vector<std::string> tokens(std::int32_t side) const {
        std::vector<std::string> all;
        for (std::size_t i = 0; i < hs_record_tokens(record_.get(), side); ++i) {
            all.push_back(detail::copy(hs_record_token(record_.get(), side, i)));
        }
        return all;
    }
    // [heads, queries, keys]; `layer` from 1.
    Array<float> weights(std::int32_t kind, std::int32_t layer) const {
        hs_array array = detail::empty_array();
        detail::call(hs_record_weights, static_cast<const hs_record*>(record_.get()), kind, layer, &array);
        return detail::array<float>(array, "the layer");
    }
    Record derive(const char* how) const { return derived(how, nullptr); }
    Record minus(const Record& other) const { return derived("difference", other.record_.get()); }
    std::string figure(const char* format, const Options& options = Options()) const {
        return detail::bytes(hs_record_figure, static_cast<const hs_record*>(record_.get()), options.get(), format);
    }
    std::string statistics() const {
        return detail::bytes(hs_record_statistics, static_cast<const hs_record*>(record_.get()));
    }
    std::string json() const { return detail::bytes(hs_record_json, static_cast<const hs_record*>(record_.get())); }

private:
    Record derived(const char* how, const hs_record* other) const {
        hs_record* record = nullptr;
        detail::call(hs_record_derive, static_cast<const hs_record*>(record_.get()), how, other, &record);
        return Record(record);
    }
    std::shared_ptr<hs_record> record_;
};

// Cheap to copy.
class Result {
public:
    explicit Result(hs_result* result) : result_(result, hs_result_free) {}

    std::size_t size() const { return hs_result_count(result_.get()); }
    std::size_t choices(std::size_t input) const { return hs_result_choices(result_.get(), input); }
    // Failure if the input has a problem.
    std::string text(std::size_t input = 0, std::size_t choice = 0) const {
        if (const std::string why = problem(input); !why.empty()) {
            throw Failure(hs_result_status(result_.get(), input), why);
        }
        return detail::copy(hs_result_text(result_.get(), input, choice));
    }
    double number(std::int32_t what, std::size_t input = 0, std::size_t choice = 0) const {
        return hs_result_number(result_.get(), input, choice, what);
    }
    template <class Value>
    Array<Value> array(const std::string& name, std::size_t input = 0, std::size_t choice = 0) const {
        hs_array array = detail::empty_array();
        detail::call(hs_result_array, static_cast<const hs_result*>(result_.get()), input, choice, name.c_str(),
                     &array);
        return detail::array<Value>(array, name);
    }
    std::string problem(std::size_t input) const { return detail::copy(hs_result_problem(result_.get(), input)); }
    Record record(std::size_t input = 0) const {
        hs_record* record = nullptr;
        detail::call(hs_result_record, static_cast<const hs_result*>(result_.get()), input, &record);
        return Record(record);
    }
    std::string json() const { return detail::bytes(hs_result_json, static_cast<const hs_result*>(result_.get())); }

private:
    std::shared_ptr<hs_result> result_;
};

// Cancelled when it is destroyed, unless it has ended.
class Request {
public:
    explicit Request(hs_request* request, std::vector<std::shared_ptr<Hook>> hooks = {})
        : hooks_(std::move(hooks)), request_(request) {}

    Result wait() { return *wait_for(-1); }
    std::optional<Result> wait_for(std::int64_t timeout_ms) {
        hs_result* result = nullptr;
        const hs_status status = detail::call(hs_request_wait, request_.get(), timeout_ms, &result);
        return status == HS_OK ? std::optional(Result(result)) : std::nullopt;
    }
    // The next event; none at the end. What it lends lives until the next call.
    std::optional<hs_event> next() {
        hs_event event{};
        event.size = sizeof(hs_event);
        const hs_status status = detail::call(hs_request_next, request_.get(), std::int64_t{-1}, &event);
        return status == HS_OK ? std::optional(event) : std::nullopt;
    }
    void cancel() { hs_request_cancel(request_.get()); }

private:
    std::vector<std::shared_ptr<Hook>> hooks_;  // outlive the request
    detail::Owned<hs_request, hs_request_free> request_;
};

class Model {
public:
    explicit Model(hs_model* model) : model_(model) {}

    Request submit(std::int32_t kind, const std::vector<std::string>& inputs, const Options& options = Options()) {
        return submitted(kind, inputs, nullptr, options);
    }
    Request submit(std::int32_t kind, const std::vector<std::string>& inputs, const std::vector<std::string>& targets,
                   const Options& options = Options()) {
        if (targets.size() != inputs.size()) {
            throw Failure(HS_INVALID, "there must be a target for each input");
        }
        return submitted(kind, inputs, &targets, options);
    }
    std::string translate(const std::string& text, const Options& options = Options()) {
        return submit(HS_TRANSLATE, {text}, options).wait().text();
    }
    std::string complete(const std::string& prompt, const Options& options = Options()) {
        return submit(HS_COMPLETE, {prompt}, options).wait().text();
    }
    Record attention(const std::string& text, const Options& options = Options()) {
        const Result result = submit(HS_ATTEND, {text}, options).wait();
        static_cast<void>(result.text());  // Failure if there is a problem
        return result.record();
    }
    std::string info() { return detail::bytes(hs_model_info, model_.get()); }
    void unload() { detail::call(hs_model_unload, model_.get()); }
    void load() { detail::call(hs_model_load, model_.get()); }

private:
    Request submitted(std::int32_t kind, const std::vector<std::string>& inputs,
                      const std::vector<std::string>* targets, const Options& options) {
        const auto texts = [](const std::vector<std::string>& from) {
            std::vector<hs_text> to;
            for (const std::string& each : from) {
                to.push_back(detail::text(each));
            }
            return to;
        };
        const std::vector<hs_text> asked = texts(inputs);
        const std::vector<hs_text> wanted = targets == nullptr ? std::vector<hs_text>() : texts(*targets);
        hs_request* request = nullptr;
        detail::call(hs_submit, model_.get(), kind, asked.data(), targets == nullptr ? nullptr : wanted.data(),
                     asked.size(), options.get(), &request);
        return Request(request, options.hooks());
    }
    detail::Owned<hs_model, hs_model_close> model_;
};

class Engine {
public:
    using Log = std::function<void(std::string_view message)>;

    // `log` hears what happens to devices, on other threads; it must not throw.
    explicit Engine(const Options& options = Options(), Log log = {}) : log_(std::make_unique<Log>(std::move(log))) {
        hs_engine* engine = nullptr;
        const hs_log_function tell =
            *log_ ? [](void* user,
                       hs_text message) { (*static_cast<Log*>(user))(std::string_view(message.data, message.size)); }
                  : hs_log_function(nullptr);
        detail::call(hs_engine_open, std::uint32_t{HS_ABI}, options.get(), tell, static_cast<void*>(log_.get()),
                     &engine);
        engine_.reset(engine);
    }
    Engine(Engine&&) = default;
    Engine& operator=(Engine&& other) noexcept {
        engine_ = std::move(other.engine_);  // closes the old one, which still has its log
        log_ = std::move(other.log_);
        return *this;
    }
    Model open(const std::string& place, const Options& options = Options()) {
        return open(std::vector<std::string>{place}, options);
    }
    // An ensemble.
    Model open(const std::vector<std::string>& places, const Options& options = Options()) {
        std::vector<hs_text> texts;
        for (const std::string& each : places) {
            texts.push_back(detail::text(each));
        }
        hs_model* model = nullptr;
        detail::call(hs_model_open, engine_.get(), static_cast<const hs_text*>(texts.data()), texts.size(),
                     options.get(), &model);
        return Model(model);
    }
    // False if there is still work after that time.
    bool drain(std::int64_t timeout_ms) { return detail::call(hs_engine_drain, engine_.get(), timeout_ms) == HS_OK; }
    std::string statistics() { return detail::bytes(hs_engine_statistics, engine_.get()); }

private:
    std::unique_ptr<Log> log_;  // outlives the engine
    detail::Owned<hs_engine, hs_engine_close> engine_;
};

// In a thread of its own, which ends after the current step when this is destroyed.
class Training {
public:
    // `config`: JSON, or empty.
    explicit Training(const Options& options, std::string_view config = {}) {
        hs_training* training = nullptr;
        detail::call(hs_training_start, detail::text(config), options.get(), &training);
        training_.reset(training);
    }
    // The next event as JSON; none after the last one.
    std::optional<std::string> next() {
        hs_buffer* buffer = nullptr;
        const hs_status status = detail::call(hs_training_next, training_.get(), std::int64_t{-1}, &buffer);
        const detail::Owned<hs_buffer, hs_buffer_free> owned(buffer);
        return status == HS_OK ? std::optional(detail::copy(hs_buffer_bytes(buffer))) : std::nullopt;
    }
    void stop() { hs_training_stop(training_.get()); }

private:
    detail::Owned<hs_training, hs_training_free> training_;
};

// What the library, this machine and the search path have, as JSON.
inline std::string about() {
    return detail::bytes(hs_about);
}
inline std::string devices(const Options& options = Options()) {
    return detail::bytes(hs_devices, options.get());
}
inline std::string models(const Options& options = Options()) {
    return detail::bytes(hs_models, options.get());
}
inline std::string keys() {
    return detail::bytes(hs_options_keys);
}

// Called on threads of conform(), one at a time; it must not throw. The check ends where it returns false.
using Progress = std::function<bool(std::uint64_t done, std::uint64_t all, std::string_view doing)>;
// The report of hs_conform(), as JSON.
inline std::string conform(const Options& options = Options(), Progress progress = {}) {
    const hs_progress_function tell = [](void* user, std::uint64_t done, std::uint64_t all, hs_text doing) {
        const bool more = (*static_cast<Progress*>(user))(done, all, std::string_view(doing.data, doing.size));
        return hs_status{more ? HS_OK : HS_CANCELLED};
    };
    return detail::bytes(hs_conform, options.get(), progress ? tell : nullptr, static_cast<void*>(&progress));
}

}  // namespace hs
