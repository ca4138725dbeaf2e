#include "io/pickle_tensors.h"

#include <fmt/format.h>

#include <unordered_set>
#include <utility>

#include "support/check.h"

namespace headscope {

namespace {

using Kind = PickleKind;

class Walk {
public:
    Walk(const std::string& file, const LocateTensor& locate) : file_(file), locate_(locate) {}

    PickleContents contents(const PickleValue& root) {
        if (root.kind != Kind::Dict) {
            throw PickleError("it holds no dict of tensors; save a state_dict");
        }
        PickleContents found;
        found.objects = plain(root, "");
        found.tensors = std::move(tensors_);
        return found;
    }

private:
    // Shared values are visited as often as they occur: without a limit, a few nested lists would become gigabytes.
    void spend(std::size_t bytes) {
        constexpr std::size_t kMost = std::size_t{256} << 20U;
        constexpr std::size_t kOfAValue = 32;
        spent_ += bytes + kOfAValue;
        if (spent_ > kMost) {
            throw PickleError("its pickle unfolds to more than 256 MiB of plain values");
        }
    }

    nlohmann::json plain(const PickleValue& value, const std::string& name) {
        spend(value.text.size() + value.name.size());
        switch (value.kind) {
            case Kind::Bool: return value.integer != 0;
            case Kind::Int: return value.integer;
            case Kind::Float: return value.number;
            case Kind::Text: return std::string(value.text);
            case Kind::Global: return fmt::format("{}.{}", value.text, value.name);
            case Kind::Bytes:
                return nlohmann::json::binary(std::vector<std::uint8_t>(value.text.begin(), value.text.end()));
            case Kind::List:
            case Kind::Tuple:
            case Kind::Set:
            case Kind::Dict:
            case Kind::Object: return container(value, name);
            case Kind::None:
            case Kind::Storage:
            case Kind::Tensor: break;
        }
        return nullptr;
    }

    nlohmann::json container(const PickleValue& value, const std::string& name) {
        constexpr std::size_t kDeepest = 100;
        constexpr std::size_t kLongestName = 4096;
        if (open_.size() == kDeepest) {
            throw PickleError("its pickle nests containers more than 100 deep");
        }
        if (name.size() > kLongestName) {
            throw PickleError("its pickle has a key of more than 4096 bytes");
        }
        if (!open_.insert(&value).second) {
            return nullptr;  // it contains itself, as configurations do that know their parent
        }
        const bool keyed = value.kind == Kind::Dict || value.kind == Kind::Object;
        nlohmann::json made = keyed ? nlohmann::json::object() : nlohmann::json::array();
        for (std::size_t item = 0; item < value.items.size(); ++item) {
            const std::string key = keyed ? key_text(*value.items[item++]) : std::to_string(item);
            const PickleValue& inner = *value.items[item];
            const std::string inner_name = name.empty() ? key : name + "." + key;
            spend(inner_name.size());
            if (inner.kind == Kind::Tensor) {
                add_tensor(inner, inner_name);
            }
            if (!keyed) {
                made.push_back(plain(inner, inner_name));  // null for a tensor, so that others keep their places
            } else if (inner.kind != Kind::Tensor) {
                made[key] = plain(inner, inner_name);
            }
        }
        open_.erase(&value);
        return made;
    }

    std::string key_text(const PickleValue& key) {
        return key.kind == Kind::Text ? std::string(key.text) : plain(key, "").dump();
    }

    std::vector<std::int64_t> numbers(const PickleValue& tuple) {
        std::vector<std::int64_t> found;
        for (const PickleValue* number : tuple.items) {
            if (number->kind != Kind::Int) {
                throw PickleError("its pickle is damaged: a tensor's shape or strides are not integers");
            }
            found.push_back(number->integer);
        }
        return found;
    }

    void add_tensor(const PickleValue& value, const std::string& name) {
        constexpr std::size_t kMostDimensions = 64;  // PyTorch's own limit
        if (value.items[0]->items.size() > kMostDimensions || value.items[1]->items.size() > kMostDimensions) {
            throw PickleError(fmt::format("tensor '{}' has more than 64 dimensions", name));
        }
        StoredTensor tensor;
        tensor.name = name;
        tensor.file = file_;
        tensor.dtype = value.name;
        tensor.shape = numbers(*value.items[0]);
        tensor.strides = numbers(*value.items[1]);
        if (value.offset < 0) {
            throw PickleError(fmt::format("tensor '{}' begins before its storage", name));
        }
        locate_(tensor, value);
        tensors_.push_back(std::move(tensor));
    }

    const std::string& file_;
    const LocateTensor& locate_;
    std::vector<StoredTensor> tensors_;
    std::size_t spent_ = 0;
    std::unordered_set<const PickleValue*> open_;  // from the root to here
};

}  // namespace

PickleContents pickle_contents(const PickleValue& root, const std::string& file, const LocateTensor& locate) {
    return Walk(file, locate).contents(root);
}

}  // namespace headscope
