#include "backend/replays.h"

#include <array>
#include <cstring>

namespace headscope {

namespace {

template <class Value>
void append(std::string& key, const Value& value) {
    std::array<char, sizeof value> bytes{};
    std::memcpy(bytes.data(), &value, sizeof value);
    key.append(bytes.data(), bytes.size());
}

}  // namespace

std::string not_in_a_replay(const std::string& what) {
    return "the body of a replay may only enqueue ops; it " + what;
}

std::string replay_key(const std::string& name, const std::vector<Tensor>& operands,
                       const std::function<Address(const Tensor&)>& address_of) {
    constexpr std::size_t kBytesOfMost = 96;
    std::string key;
    key.reserve(name.size() + 1 + kBytesOfMost * operands.size());
    key.append(name).push_back('\0');
    for (const Tensor& operand : operands) {
        if (!operand.defined()) {
            key.push_back('-');
            continue;
        }
        key.push_back(static_cast<char>(operand.rank()));
        const Address address = address_of(operand);
        append(key, address.block);
        append(key, address.byte);
        append(key, operand.dtype);
        for (int dim = 0; dim < operand.rank(); ++dim) {
            append(key, operand.dim(dim));
            append(key, operand.stride(dim));
        }
    }
    return key;
}

}  // namespace headscope
