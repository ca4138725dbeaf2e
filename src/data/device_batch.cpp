#include "data/device_batch.h"

#include <algorithm>
#include <vector>

#include "support/check.h"

namespace headscope {

namespace {

// Undefined if there are no values.
Tensor put(Backend& backend, const Shape& shape, const std::vector<std::int32_t>& values) {
    if (values.empty()) {
        return {};
    }
    HEADSCOPE_CHECK(shape.elements() == static_cast<std::int64_t>(values.size()),
                    "a batch has " + std::to_string(values.size()) + " values for the shape " + shape.to_string());
    Tensor tensor = backend.empty(shape, DType::I32);
    backend.upload(tensor, values.data(), values.size() * sizeof(std::int32_t));
    return tensor;
}

Tensor put(Backend& backend, const Shape& shape, const std::vector<float>& values) {
    return values.empty() ? Tensor() : make_from_host(backend, shape, backend.full_dtype(), values);
}

DeviceComparisons put(Backend& backend, const Comparisons& host) {
    const std::int64_t pairs = std::ssize(host.better);
    const std::int64_t rows = std::ssize(host.text_of);
    return {.prompts = host.prompts,
            .ends = upload(backend, host.ends),
            .texts = put(backend, {1, pairs * 2}, host.texts),
            .order = put(backend, {pairs * 2}, host.order),
            .better = put(backend, {pairs}, host.better),
            .weights = put(backend, {pairs, 1}, host.weights),
            .text_of = put(backend, {1, rows}, host.text_of),
            .text_order = put(backend, {rows}, host.text_order),
            .references = put(backend, {std::ssize(host.references), 1}, host.references)};
}

}  // namespace

DeviceTokens upload(Backend& backend, const Tokens& tokens) {
    if (tokens.length == 0) {
        return {};
    }
    const std::int64_t texts = std::ssize(tokens.lengths);
    return {.ids = put(backend, {texts, tokens.length}, tokens.ids),
            .order = put(backend, {texts * tokens.length}, tokens.order),
            .types = put(backend, {std::ssize(tokens.types) / tokens.length, tokens.length}, tokens.types),
            .type_order = put(backend, {std::ssize(tokens.types)}, tokens.type_order),
            .lengths = put(backend, {texts}, tokens.lengths),
            .ranges = put(backend, {texts, tokens.length, 2}, tokens.ranges),
            .patches = put(backend, {texts, tokens.length, std::ssize(tokens.patches) / (texts * tokens.length)},
                           tokens.patches)};
}

DeviceGather upload(Backend& backend, const Gather& gather) {
    const std::int64_t rows = std::ssize(gather.classes);
    return {
        .count = gather.count,
        .rows = put(backend, {1, rows}, gather.rows),
        .order = put(backend, {rows}, gather.order),
        .classes = put(backend, {1, rows}, gather.classes),
        .weights = put(backend, {rows}, gather.weights),
        .numbers = put(backend, {rows, std::ssize(gather.numbers) / std::max<std::int64_t>(rows, 1)}, gather.numbers)};
}

DeviceBatch upload(Backend& backend, const Batch& batch) {
    DeviceBatch device{.sentences = batch.sentences,
                       .source = upload(backend, batch.source),
                       .target = upload(backend, batch.target),
                       .source_ends = upload(backend, batch.source_ends),
                       .predicted = upload(backend, batch.predicted),
                       .comparisons = put(backend, batch.comparisons),
                       .ordinals = put(backend, {batch.sentences}, batch.ordinals)};
    for (const Gather& gather : batch.adaptive) {
        device.adaptive.push_back(upload(backend, gather));
    }
    return device;
}

}  // namespace headscope
