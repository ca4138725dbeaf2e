#include "data/device_batch.h"

#include <vector>

#include "support/check.h"

namespace headscope {

namespace {

Tensor put(Backend& backend, const Shape& shape, const std::vector<std::int32_t>& values) {
    HEADSCOPE_CHECK(shape.elements() == static_cast<std::int64_t>(values.size()),
                    "a batch has " + std::to_string(values.size()) + " values for the shape " + shape.to_string());
    Tensor tensor = backend.empty(shape, DType::I32);
    backend.upload(tensor, values.data(), values.size() * sizeof(std::int32_t));
    return tensor;
}

}  // namespace

AdaptiveTargets upload_adaptive(Backend& backend, const Batch& batch) {
    AdaptiveTargets device;
    if (const auto count = std::ssize(batch.head_out); count > 0) {
        device.head = put(backend, {count}, batch.head_out);
    }
    for (const Batch::Cluster& cluster : batch.clusters) {
        const auto count = std::ssize(cluster.rows);
        device.clusters.push_back({put(backend, {1, count}, cluster.rows), put(backend, {1, count}, cluster.out),
                                   put(backend, {count}, cluster.order)});
    }
    return device;
}

DeviceBatch upload(Backend& backend, const Batch& batch) {
    const Shape rows{batch.sentences};
    DeviceBatch device;
    device.sentences = batch.sentences;
    device.source_length = batch.source_length;
    device.target_length = batch.target_length;
    device.source_tokens = batch.source_tokens;
    device.target_tokens = batch.target_tokens;
    device.ordinals = put(backend, rows, batch.ordinals);
    if (batch.source_length > 0) {
        const Shape source{batch.sentences, batch.source_length};
        device.source = put(backend, source, batch.source);
        device.source_lengths = put(backend, rows, batch.source_lengths);
        device.source_order = put(backend, {source.elements()}, batch.source_order);
        if (!batch.source_ends.empty()) {
            device.source_ends = put(backend, {1, batch.sentences}, batch.source_ends);
            device.source_ends_order = put(backend, rows, batch.source_ends_order);
        }
    }
    if (batch.target_length > 0) {
        const Shape target{batch.sentences, batch.target_length};
        device.target_in = put(backend, target, batch.target_in);
        device.target_out = put(backend, target, batch.target_out);
        device.target_lengths = put(backend, rows, batch.target_lengths);
        device.target_order = put(backend, {target.elements()}, batch.target_order);
        if (const auto count = std::ssize(batch.target_types); count > 0) {
            device.target_types = put(backend, {count / batch.target_length, batch.target_length}, batch.target_types);
            device.target_type_order = put(backend, {count}, batch.target_type_order);
        }
        if (const auto count = std::ssize(batch.predicted); count > 0) {
            device.predicted = put(backend, {1, count}, batch.predicted);
            device.predicted_out = put(backend, {1, count}, batch.predicted_out);
            device.predicted_order = put(backend, {count}, batch.predicted_order);
        }
        device.adaptive = upload_adaptive(backend, batch);
        if (!batch.target_ranges.empty()) {
            device.target_ranges = put(backend, {batch.sentences, batch.target_length, 2}, batch.target_ranges);
        }
    }
    return device;
}

}  // namespace headscope
