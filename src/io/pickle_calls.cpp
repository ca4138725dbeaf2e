#include "io/pickle_calls.h"

#include <array>
#include <cstring>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "support/utf8.h"

namespace headscope {

namespace {

using Kind = PickleKind;
using Arguments = std::vector<const PickleValue*>;
using Function = PickleValue& (*)(PickleArena&, const std::string&, const Arguments&);

std::string name_of(const PickleValue& global) {
    return fmt::format("{}.{}", global.text, global.name);
}

[[noreturn]] void reject_call(const std::string& function) {
    throw PickleError(fmt::format(
        "it calls {}, which is rejected: only tensors and plain values are read, and no code is run; save its "
        "state_dict again",
        function));
}

const PickleValue& argument(const std::string& function, const Arguments& arguments, std::size_t at, Kind kind) {
    if (at >= arguments.size() || arguments[at]->kind != kind) {
        throw PickleError(fmt::format("it calls {} with unexpected arguments", function));
    }
    return *arguments[at];
}

// torch's dtypes by the names of their storages and of their own. Complex and quantized ones are not read.
struct TorchDType {
    std::string_view storage, name, dtype;
};
constexpr std::array<TorchDType, 19> kTorchDTypes{{
    {"FloatStorage", "float32", "F32"},
    {"HalfStorage", "float16", "F16"},
    {"BFloat16Storage", "bfloat16", "BF16"},
    {"DoubleStorage", "float64", "F64"},
    {"LongStorage", "int64", "I64"},
    {"IntStorage", "int32", "I32"},
    {"ShortStorage", "int16", "I16"},
    {"CharStorage", "int8", "I8"},
    {"ByteStorage", "uint8", "U8"},
    {"BoolStorage", "bool", "BOOL"},
    {"UntypedStorage", "", ""},
    {"", "uint16", "U16"},
    {"", "uint32", "U32"},
    {"", "uint64", "U64"},
    {"", "float8_e4m3fn", "F8_E4M3"},
    {"", "float8_e5m2", "F8_E5M2"},
    {"", "float8_e8m0fnu", "F8_E8M0"},
    {"", "float8_e4m3fnuz", "F8_E4M3FNUZ"},
    {"ComplexFloatStorage", "complex64", "C64"},
}};

PickleValue& make_tensor(PickleArena& arena, const std::string& function, const Arguments& arguments) {
    PickleValue& tensor = arena.make(Kind::Tensor);
    tensor.of = &argument(function, arguments, 0, Kind::Storage);
    tensor.offset = argument(function, arguments, 1, Kind::Int).integer;
    tensor.name = tensor.of->name;
    tensor.items = {&argument(function, arguments, 2, Kind::Tuple), &argument(function, arguments, 3, Kind::Tuple)};
    return tensor;
}

// Flags of lazy negation and conjugation, which change the values.
void require_no_flags(const std::string& function, const Arguments& arguments, std::size_t at) {
    if (at < arguments.size() && !arguments[at]->items.empty()) {
        throw PickleError(fmt::format("it calls {} with metadata, which is not supported", function));
    }
}

PickleValue& rebuild_tensor(PickleArena& arena, const std::string& function, const Arguments& arguments) {
    constexpr std::size_t kMetadata = 6;
    require_no_flags(function, arguments, kMetadata);
    return make_tensor(arena, function, arguments);
}

PickleValue& rebuild_tensor_v3(PickleArena& arena, const std::string& function, const Arguments& arguments) {
    constexpr std::size_t kDType = 6;
    const PickleValue& dtype = argument(function, arguments, kDType, Kind::Global);
    require_no_flags(function, arguments, kDType + 1);
    PickleValue& tensor = make_tensor(arena, function, arguments);
    for (const TorchDType& known : kTorchDTypes) {
        if (dtype.text == "torch" && dtype.name == known.name && !known.name.empty()) {
            tensor.name = known.dtype;
            return tensor;
        }
    }
    throw PickleError(fmt::format("it has a tensor of the dtype {}, which is not supported", name_of(dtype)));
}

PickleValue& copy(PickleArena& arena, const PickleValue& value) {
    arena.spend(value.items.size());
    PickleValue& made = arena.make(value.kind);
    made = value;
    return made;
}

PickleValue& rebuild_parameter(PickleArena& arena, const std::string& function, const Arguments& arguments) {
    return copy(arena, argument(function, arguments, 0, Kind::Tensor));
}

// (function, class, arguments, state): a tensor with attributes of its own
PickleValue& rebuild_from_type(PickleArena& arena, const std::string& function, const Arguments& arguments) {
    const PickleValue& type = argument(function, arguments, 1, Kind::Global);
    if (const std::string name = name_of(type); name != "torch.Tensor" && name != "torch.nn.parameter.Parameter") {
        throw PickleError(fmt::format("it has a tensor of the class {}, which is not supported", name));
    }
    const PickleValue& inner = argument(function, arguments, 0, Kind::Global);
    if (!inner.name.starts_with("_rebuild_tensor")) {  // so that calls cannot nest without end
        reject_call(name_of(inner));
    }
    return call_global(arena, inner, argument(function, arguments, 2, Kind::Tuple));
}

PickleValue& make_dict(PickleArena& arena, const std::string& function, const Arguments& arguments) {
    PickleValue& dict = arena.make(Kind::Dict);
    if (arguments.empty()) {
        return dict;
    }
    if (arguments[0]->kind == Kind::Dict) {
        return copy(arena, *arguments[0]);
    }
    for (const PickleValue* pair : argument(function, arguments, 0, Kind::List).items) {
        if ((pair->kind != Kind::List && pair->kind != Kind::Tuple) || pair->items.size() != 2) {
            throw PickleError(fmt::format("it calls {} with unexpected arguments", function));
        }
        arena.spend(2);
        dict.items.insert(dict.items.end(), pair->items.begin(), pair->items.end());
    }
    return dict;
}

// The argument is a function that makes missing values: its contents follow as items.
PickleValue& make_default_dict(PickleArena& arena, const std::string& /*function*/, const Arguments& /*arguments*/) {
    return arena.make(Kind::Dict);
}

PickleValue& make_set(PickleArena& arena, const std::string& function, const Arguments& arguments) {
    PickleValue& set = copy(arena, argument(function, arguments, 0, Kind::List));
    set.kind = Kind::Set;
    return set;
}

PickleValue& make_size(PickleArena& arena, const std::string& function, const Arguments& arguments) {
    return copy(arena, argument(function, arguments, 0, Kind::Tuple));
}

PickleValue& make_device(PickleArena& arena, const std::string& function, const Arguments& arguments) {
    return copy(arena, argument(function, arguments, 0, Kind::Text));
}

// copyreg._reconstructor(class, object, None): how protocols before 2 make an instance
PickleValue& reconstruct(PickleArena& arena, const std::string& function, const Arguments& arguments) {
    const PickleValue& type = argument(function, arguments, 0, Kind::Global);
    argument(function, arguments, 2, Kind::None);
    return new_instance(arena, type, arena.make(Kind::Tuple));
}

// _codecs.encode(text, "latin1"): how protocol 2 writes bytes
PickleValue& encode(PickleArena& arena, const std::string& function, const Arguments& arguments) {
    const std::string_view text = argument(function, arguments, 0, Kind::Text).text;
    if (argument(function, arguments, 1, Kind::Text).text != "latin1") {
        reject_call(function);
    }
    std::string bytes;
    for (std::size_t at = 0; at < text.size();) {
        bytes += static_cast<char>(next_character(text, at));
    }
    PickleValue& made = arena.make(Kind::Bytes);
    made.text = arena.keep(std::move(bytes));
    return made;
}

PickleValue& make_numpy_dtype(PickleArena& arena, const std::string& function, const Arguments& arguments) {
    PickleValue& dtype = arena.make(Kind::Object);
    dtype.name = argument(function, arguments, 0, Kind::Text).text;
    return dtype;
}

template <class T>
T bytes_as(std::string_view bytes) {
    T value{};
    std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
}

// numpy's numbers, as metrics and counters are
PickleValue& make_numpy_scalar(PickleArena& arena, const std::string& function, const Arguments& arguments) {
    const std::string_view dtype = argument(function, arguments, 0, Kind::Object).name;
    const std::string_view bytes = argument(function, arguments, 1, Kind::Bytes).text;
    const bool real = dtype.starts_with('f');
    PickleValue& made = arena.make(real ? Kind::Float : dtype == "b1" ? Kind::Bool : Kind::Int);
    if (dtype == "f8" && bytes.size() == sizeof(double)) {
        made.number = bytes_as<double>(bytes);
    } else if (dtype == "f4" && bytes.size() == sizeof(float)) {
        made.number = bytes_as<float>(bytes);
    } else if (dtype == "i8" && bytes.size() == sizeof(std::int64_t)) {
        made.integer = bytes_as<std::int64_t>(bytes);
    } else if (dtype == "i4" && bytes.size() == sizeof(std::int32_t)) {
        made.integer = bytes_as<std::int32_t>(bytes);
    } else if (dtype == "b1" && bytes.size() == 1) {
        made.integer = bytes_as<std::uint8_t>(bytes);
    } else {
        throw PickleError(fmt::format("it has a number of numpy's dtype '{}', which is not supported", dtype));
    }
    return made;
}

constexpr std::array<std::pair<std::string_view, Function>, 24> kFunctions{{
    {"torch._utils._rebuild_tensor", &rebuild_tensor},
    {"torch._utils._rebuild_tensor_v2", &rebuild_tensor},
    {"torch._utils._rebuild_tensor_v3", &rebuild_tensor_v3},
    {"torch._utils._rebuild_parameter", &rebuild_parameter},
    {"torch._utils._rebuild_parameter_with_state", &rebuild_parameter},
    {"torch.nn.parameter.Parameter", &rebuild_parameter},
    {"torch._tensor._rebuild_from_type_v2", &rebuild_from_type},
    {"torch.Size", &make_size},
    {"torch.device", &make_device},
    {"collections.OrderedDict", &make_dict},
    {"collections.Counter", &make_dict},
    {"collections.defaultdict", &make_default_dict},
    {"builtins.dict", &make_dict},
    {"__builtin__.dict", &make_dict},
    {"builtins.set", &make_set},
    {"__builtin__.set", &make_set},
    {"builtins.frozenset", &make_set},
    {"__builtin__.frozenset", &make_set},
    {"_codecs.encode", &encode},
    {"numpy.dtype", &make_numpy_dtype},
    {"numpy.core.multiarray.scalar", &make_numpy_scalar},
    {"numpy._core.multiarray.scalar", &make_numpy_scalar},
    {"copyreg._reconstructor", &reconstruct},
    {"copy_reg._reconstructor", &reconstruct},
}};

}  // namespace

PickleValue& call_global(PickleArena& arena, const PickleValue& callable, const PickleValue& arguments) {
    if (callable.kind != Kind::Global || arguments.kind != Kind::Tuple) {
        throw PickleError("its pickle is damaged: a call needs a function and a tuple of arguments");
    }
    const std::string name = name_of(callable);
    for (const auto& [known, function] : kFunctions) {
        if (name == known) {
            return function(arena, name, arguments.items);
        }
    }
    reject_call(name);
}

PickleValue& new_instance(PickleArena& arena, const PickleValue& type, const PickleValue& arguments) {
    if (type.kind != Kind::Global || arguments.kind != Kind::Tuple) {
        throw PickleError("its pickle is damaged: an instance needs a class and a tuple of arguments");
    }
    if (!arguments.items.empty()) {
        reject_call(name_of(type));
    }
    const bool dict = type.text == "collections" && type.name == "OrderedDict";
    return arena.make(dict ? Kind::Dict : Kind::Object);
}

PickleValue& persistent_storage(PickleArena& arena, const PickleValue& id) {
    const std::string function = "a persistent id";
    const Arguments& parts = id.items;
    if (id.kind != Kind::Tuple || argument(function, parts, 0, Kind::Text).text != "storage") {
        throw PickleError("it holds a whole module with its program; save its state_dict instead");
    }
    const PickleValue& type = argument(function, parts, 1, Kind::Global);
    PickleValue& storage = arena.make(Kind::Storage);
    storage.text = argument(function, parts, 2, Kind::Text).text;
    storage.integer = argument(function, parts, 4, Kind::Int).integer;
    // Legacy files: a view (key, offset, elements) of a storage. Tensors have had offsets of their own since 2017.
    if (parts.size() > 5 && parts[5]->kind != Kind::None) {
        throw PickleError("it has views of storages, written by PyTorch before 0.4: save it again with a newer one");
    }
    for (const TorchDType& known : kTorchDTypes) {
        const bool in_torch = type.text == "torch" || type.text == "torch.storage";
        if (in_torch && type.name == known.storage && !known.storage.empty()) {
            storage.name = known.dtype;
            return storage;
        }
    }
    throw PickleError(fmt::format("it has a storage of the class {}, which is not supported", name_of(type)));
}

}  // namespace headscope
