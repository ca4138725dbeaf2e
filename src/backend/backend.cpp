#include "backend/backend.h"

#include <chrono>
#include <cmath>

#include "backend/convert.h"
#include "backend/ops.h"
#include "support/check.h"

namespace headscope {

namespace {

// Elements between a view's first and last, both counted.
std::int64_t span_of(const Tensor& tensor) {
    std::int64_t last = 0;
    for (int dim = 0; dim < tensor.rank(); ++dim) {
        last += (tensor.dim(dim) - 1) * tensor.stride(dim);
    }
    return tensor.elements() == 0 ? 0 : last + 1;
}

// The range from a view's first to its last element, as one contiguous tensor.
Tensor spanning(const Tensor& tensor) {
    if (tensor.layout != WeightLayout::Rows) {
        return tensor;  // transfers know its layout
    }
    return make_tensor(tensor.buffer, Shape{span_of(tensor)}, tensor.dtype, tensor.offset);
}

// Calls visit(i, place) for the i-th element of a view in row-major order; place is relative to its first element.
template <class Visit>
void for_each_place(const Tensor& tensor, Visit&& visit) {
    std::array<std::int64_t, kMaxRank> size{1, 1, 1, 1};
    std::array<std::int64_t, kMaxRank> step{};
    const auto pad = static_cast<std::size_t>(kMaxRank - tensor.rank());
    for (int dim = 0; dim < tensor.rank(); ++dim) {
        size[pad + static_cast<std::size_t>(dim)] = tensor.dim(dim);
        step[pad + static_cast<std::size_t>(dim)] = tensor.stride(dim);
    }
    std::size_t index = 0;
    for (std::int64_t i = 0; i < size[0]; ++i) {
        for (std::int64_t j = 0; j < size[1]; ++j) {
            for (std::int64_t k = 0; k < size[2]; ++k) {
                for (std::int64_t l = 0; l < size[3]; ++l) {
                    visit(index++, static_cast<std::size_t>(i * step[0] + j * step[1] + k * step[2] + l * step[3]));
                }
            }
        }
    }
}

std::vector<std::byte> download_bytes(Backend& backend, const Tensor& tensor) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(tensor.elements()) * size_of(tensor.dtype));
    backend.download(tensor, bytes.data(), bytes.size());
    return bytes;
}

// For streams that were waited for.
class HostEvent final : public Event {
public:
    bool reached() override { return true; }
    void wait() override {}
    double seconds_since(const Event& earlier) const override {
        const auto* other = dynamic_cast<const HostEvent*>(&earlier);
        HEADSCOPE_CHECK(other != nullptr, "two events of different backends have no time between them");
        return std::chrono::duration<double>(at_ - other->at_).count();
    }

private:
    const std::chrono::steady_clock::time_point at_ = std::chrono::steady_clock::now();
};

}  // namespace

std::shared_ptr<Event> Backend::record_event() {
    synchronize();
    return std::make_shared<HostEvent>();
}

Support Backend::events() const {
    return {SupportLevel::Composed, device().id + " has no clock of its own"};
}

void Backend::replay(const std::string& /*key*/, const std::function<void()>& body) {
    body();
}

void Backend::replay_again(const std::string& /*name*/, RepeatedSequence& /*sequence*/,
                           const Dependencies& /*dependencies*/, const std::function<void()>& body) {
    body();
}

Support Backend::key_rows(std::int64_t /*depth*/) const {
    return {SupportLevel::Composed, device().id + " copies the keys of each position"};
}

const char* name_of(OpId op) {
    return kOpNames[static_cast<std::size_t>(op)];
}

std::uint32_t dropout_threshold(float rate) {
    return static_cast<std::uint32_t>(std::lround(static_cast<double>(rate) * 65536.0));
}

template <class T>
std::vector<T> to_host(Backend& backend, const Tensor& tensor) {
    std::vector<T> values(static_cast<std::size_t>(tensor.elements()));
    if (values.empty()) {
        return values;
    }
    const std::vector<std::byte> bytes = download_bytes(backend, spanning(tensor));
    const std::size_t width = size_of(tensor.dtype);
    for_each_place(tensor, [&](std::size_t index, std::size_t place) {
        values[index] = load_as<T>(tensor.dtype, bytes.data() + place * width);
    });
    return values;
}

template <class T>
void from_host(Backend& backend, const Tensor& tensor, const std::vector<T>& values) {
    HEADSCOPE_CHECK(static_cast<std::int64_t>(values.size()) == tensor.elements(),
                    std::to_string(values.size()) + " values do not fill " + tensor.to_string());
    if (values.empty()) {
        return;
    }
    const Tensor whole = spanning(tensor);
    const std::size_t width = size_of(tensor.dtype);
    // What lies between the rows of a strided view is written back unchanged.
    std::vector<std::byte> bytes = tensor.contiguous()
                                       ? std::vector<std::byte>(static_cast<std::size_t>(whole.elements()) * width)
                                       : download_bytes(backend, whole);
    for_each_place(tensor, [&](std::size_t index, std::size_t place) {
        store_as(tensor.dtype, bytes.data() + place * width, values[index]);
    });
    backend.upload(whole, bytes.data(), bytes.size());
}

template std::vector<float> to_host<float>(Backend&, const Tensor&);
template std::vector<double> to_host<double>(Backend&, const Tensor&);
template std::vector<std::int32_t> to_host<std::int32_t>(Backend&, const Tensor&);
template void from_host<float>(Backend&, const Tensor&, const std::vector<float>&);
template void from_host<double>(Backend&, const Tensor&, const std::vector<double>&);
template void from_host<std::int32_t>(Backend&, const Tensor&, const std::vector<std::int32_t>&);

}  // namespace headscope
