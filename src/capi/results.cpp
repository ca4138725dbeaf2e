#include "capi/results.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "capi/choices.h"
#include "capi/failures.h"
#include "capi/records.h"
#include "capi/text.h"

namespace headscope {

namespace {

template <class Value>
constexpr std::int32_t kType = 0;
template <>
constexpr std::int32_t kType<float> = HS_FLOAT32;
template <>
constexpr std::int32_t kType<double> = HS_FLOAT64;
template <>
constexpr std::int32_t kType<std::int32_t> = HS_INT32;
template <>
constexpr std::int32_t kType<std::int64_t> = HS_INT64;

const InputResult* input_of(const hs_result* result, std::size_t input) {
    return result != nullptr && input < result->inputs->size() ? &(*result->inputs)[input] : nullptr;
}

const Choice* choice_of(const hs_result* result, std::size_t input, std::size_t choice) {
    const InputResult* const found = input_of(result, input);
    return found != nullptr && choice < found->choices.size() ? &found->choices[choice] : nullptr;
}

}  // namespace

void put(Choice& choice, const std::string& name, NamedArray array) {
    choice.names += (choice.names.empty() ? "" : "\n") + name;
    choice.arrays.emplace(name, std::move(array));
}

std::string dumped(const nlohmann::ordered_json& object) {
    return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

InputResult problem_of(const std::string& input, const std::string& problem, hs_status status) {
    return {.problem = problem, .status = status, .json = dumped({{"input", input}, {"problem", problem}})};
}

void lend(const void* data, std::int32_t type, std::span<const std::int64_t> shape, hs_array& to) {
    require_size(to.size, offsetof(hs_array, data) + sizeof(to.data), "the array", "hs_array");
    to.type = type;
    to.rank = static_cast<std::int32_t>(shape.size());
    std::fill(std::begin(to.shape), std::end(to.shape), 0);
    std::ranges::copy(shape, to.shape);
    to.data = data;
}

}  // namespace headscope

using namespace headscope;  // NOLINT(google-build-using-namespace): the functions of the header are global

size_t hs_result_count(const hs_result* result) {
    return result == nullptr ? 0 : result->inputs->size();
}

size_t hs_result_choices(const hs_result* result, size_t input) {
    const InputResult* const found = input_of(result, input);
    return found == nullptr ? 0 : found->choices.size();
}

hs_text hs_result_text(const hs_result* result, size_t input, size_t choice) {
    const Choice* const found = choice_of(result, input, choice);
    return found == nullptr ? hs_text{"", 0} : lent(found->text);
}

double hs_result_number(const hs_result* result, size_t input, size_t choice, int32_t what) {
    const Choice* const found = choice_of(result, input, choice);
    return found == nullptr             ? std::numeric_limits<double>::quiet_NaN()
           : what == HS_SEARCH_SCORE    ? found->score
           : what == HS_LOG_PROBABILITY ? found->log_probability
                                        : std::numeric_limits<double>::quiet_NaN();
}

hs_status hs_result_array(const hs_result* result, size_t input, size_t choice, const char* name, hs_array* array,
                          hs_error** error) {
    return guarded(error, [&] {
        const Choice* const found = choice_of(&given(result, "result"), input, choice);
        const std::string wanted = &given(name, "name");
        if (found == nullptr) {
            throw Failure(HS_NOT_FOUND,
                          fmt::format("there is no output {} of input {}: see hs_result_choices()", choice, input));
        }
        const auto at = found->arrays.find(wanted);
        if (at == found->arrays.end()) {
            throw Failure(HS_NOT_FOUND,
                          fmt::format("the result has no array \"{}\", but these:\n{}", wanted, found->names));
        }
        std::visit(
            [&]<class Value>(const std::vector<Value>& values) {
                lend(values.data(), kType<Value>, at->second.shape, given(array, "array"));
            },
            at->second.values);
    });
}

hs_text hs_result_arrays(const hs_result* result, size_t input, size_t choice) {
    const Choice* const found = choice_of(result, input, choice);
    return found == nullptr ? hs_text{"", 0} : lent(found->names);
}

hs_text hs_result_problem(const hs_result* result, size_t input) {
    const InputResult* const found = input_of(result, input);
    return found == nullptr ? hs_text{"", 0} : lent(found->problem);
}

hs_status hs_result_status(const hs_result* result, size_t input) {
    const InputResult* const found = input_of(result, input);
    return found == nullptr ? HS_NOT_FOUND : found->status;
}

hs_status hs_result_record(const hs_result* result, size_t input, hs_record** record, hs_error** error) {
    return guarded(error, [&] {
        const InputResult* const found = input_of(&given(result, "result"), input);
        if (found == nullptr || found->record == nullptr) {
            throw Failure(HS_NOT_FOUND, found == nullptr ? fmt::format("there is no input {}", input)
                                        : found->problem.empty()
                                            ? "the result has no record: only HS_ATTEND gives some"
                                            : "the input has no record, but a problem: " + found->problem);
        }
        given(record, "the place for the record") = new hs_record(found->record);
    });
}

hs_status hs_result_json(const hs_result* result, hs_buffer** json, hs_error** error) {
    return guarded(error, [&] {
        std::string list;
        for (const InputResult& input : *given(result, "result").inputs) {
            list += (list.empty() ? "[" : ",") + input.json;
        }
        give(json, list.empty() ? "[]" : list + "]");
    });
}

void hs_result_free(hs_result* result) {
    delete result;
}
