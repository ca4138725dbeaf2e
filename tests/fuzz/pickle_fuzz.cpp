// Any bytes as PyTorch's file, and as the pickle inside a valid one: refused with an Error, or every tensor can be
// read.
#include "tests/fuzz/archive.h"
#include "tests/io/pickle_writer.h"

using namespace headscope;
using namespace headscope::pickle;

std::vector<std::string> headscope::fuzz_seeds() {
    const std::string floats = storage("FloatStorage", "0", 6);
    const std::string weight = tensor(floats, 0, {2, 3}, {3, 1});
    const std::string model = dict({{"w", weight}, {"t", tensor(floats, 1, {2, 2}, {1, 2})}});
    const std::string untyped =
        tuple({text("storage"), global("torch.storage", "UntypedStorage"), text("0"), text("cpu"), integer(24)}) + "Q";
    const std::string third = call("torch._utils", "_rebuild_tensor_v3",
                                   {untyped, integer(0), integers({4}), integers({1}), "\x89",
                                    call("collections", "OrderedDict", {}), global("torch", "uint16")});
    const std::string parameter =
        call("torch._utils", "_rebuild_parameter", {weight, "\x88", call("collections", "OrderedDict", {})});
    const std::string typed = call("torch._tensor", "_rebuild_from_type_v2",
                                   {global("torch._utils", "_rebuild_tensor_v2"), global("torch", "Tensor"),
                                    tuple({floats, integer(0), integers({6}), integers({1}), "\x89", "N"}), "N"});
    const std::string number = call("numpy.core.multiarray", "scalar",
                                    {call("numpy", "dtype", {text("f8"), "\x89", "\x88"}),
                                     call("_codecs", "encode", {text("12345678"), text("latin1")})});
    const std::string object =
        global("argparse", "Namespace") + ")\x81" + dict({{"a", "K\1"}, {"b", "G\x3f\xf0\1\1\1\1\1\1"}}) + "b";
    const std::string all = dict({{"model", model},
                                  {"v3", third},
                                  {"p", parameter},
                                  {"typed", typed},
                                  {"n", number},
                                  {"args", object},
                                  {"pairs", call("collections", "OrderedDict", {"](" + tuple({text("k"), "N"}) + "e"})},
                                  {"set", call("builtins", "set", {"](K\1K\2e"})},
                                  {"default", call("collections", "defaultdict", {global("builtins", "int")})},
                                  {"device", call("torch", "device", {text("cpu")})},
                                  {"size", call("torch", "Size", {tuple({"K\3"})})}});
    // Protocol 4: short texts, a memo, names on the stack.
    const std::string fourth =
        "\x80\x04}\x94(\x8c\1a\x94\x8c\x0b"
        "collections\x94\x8c\x0bOrderedDict\x94\x93\x94)R\x94h\1K\1\x85\x94u";
    const std::string data(24, 'x');
    return {model,
            all,
            fourth,
            torch_zip(all, {{"0", data}}),
            torch_zip(model, {{"0", data}}, "big"),
            torch_legacy(model, {{"0", data}})};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string bytes(as_text(data, size));
    read_archive(without_checksums(bytes), open_pickle_archive);
    const std::string storage(24, 'x');
    read_archive(torch_zip(bytes, {{"0", storage}}), open_pickle_archive);
    read_archive(torch_legacy(bytes, {{"0", storage}}), open_pickle_archive);
    return 0;
}
