#include "explore/repeated_request.h"

#include <algorithm>

#include "backend/ops/search.h"
#include "model/family.h"
#include "observe/record_attention.h"

namespace headscope {

Tensor repeated(Backend& backend, const Tensor& x, std::int64_t count) {
    const Tensor index = make_from_host<std::int32_t>(backend, {count}, DType::I32,
                                                      std::vector<std::int32_t>(static_cast<std::size_t>(count)));
    Shape shape = x.shape;
    shape.set(0, count);
    Tensor out = backend.empty(shape, x.dtype);
    backend.run(GatherRows{.x = x, .index = index, .out = out});
    return out;
}

RepeatedRequest::RepeatedRequest(Backend& backend, const ModelConfig& config, const CheckedRequest& request)
    : backend_(backend) {
    const auto length = [&](std::size_t tokens) {
        return make_from_host<std::int32_t>(backend, {1}, DType::I32, {static_cast<std::int32_t>(tokens)});
    };
    one_.sentences = 1;
    if (request.target) {
        const std::vector<std::int32_t> in = target_in_ids(config, *request.target);
        one_.target.ids = upload_padded(backend, config, in, 0);
        one_.target.types = upload_types(backend, config, in, one_.target.length());
        one_.target.lengths = length(in.size());
    }
    if (config.input.patches()) {
        one_.source = upload_picture(backend, config, request.source).source;
    } else if (traits(config.architecture).reads_source) {
        const std::vector<std::int32_t> source = source_ids(request.source);
        one_.source.ids = upload_padded(backend, config, source, 0);
        one_.source.lengths = length(source.size());
    }
}

std::int64_t RepeatedRequest::longest() const {
    return std::max(one_.source.length(), one_.target.length());
}

DeviceBatch RepeatedRequest::rows(std::int64_t count) const {
    DeviceBatch batch = one_;
    batch.sentences = count;
    for (Tensor* each :
         {&batch.source.ids, &batch.source.lengths, &batch.source.patches, &batch.target.ids, &batch.target.lengths}) {
        if (each->defined()) {
            *each = repeated(backend_, *each, count);
        }
    }
    return batch;
}

}  // namespace headscope
