// Pickles that must not be read: those that would run code, and damaged ones.
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "io/tensor_archive.h"
#include "support/check.h"
#include "tests/io/pickle_writer.h"
#include "tests/io/temporary_folder.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

std::string pickle_file_complaint(const TemporaryFolder& folder, const std::string& bytes) {
    const std::string path = folder.write("pytorch_model.bin", bytes);
    const std::string message = error_of([&] { open_pickle_archive(path); });
    CHECK_THAT(message, Contains(path));
    return message;
}

// Of a zip and of a legacy file with this object.
std::string pickle_complaint(const TemporaryFolder& folder, const std::string& root) {
    const std::string message = pickle_file_complaint(folder, pickle::torch_zip(root));
    CHECK(pickle_file_complaint(folder, pickle::torch_legacy(root, {})) == message);
    return message;
}

// Of a zip with one storage "0" of 12 floats.
std::string pickle_tensor_complaint(const TemporaryFolder& folder, const std::string& tensor) {
    const std::string root = pickle::dict({{"w", tensor}});
    return pickle_file_complaint(folder, pickle::torch_zip(root, {{"0", std::string(48, 'x')}}));
}

const std::string kStorage = pickle::storage("FloatStorage", "0", 12);

}  // namespace

TEST_CASE("a pickle that calls anything but a tensor's functions is rejected by name", "[pickle]") {
    const TemporaryFolder folder;
    const std::string made = folder.file("made");
    const std::string command = pickle::text("touch " + made);
    for (const auto& [module, name] :
         {std::pair("os", "system"), std::pair("posix", "system"), std::pair("builtins", "eval"),
          std::pair("__builtin__", "exec"), std::pair("subprocess", "Popen"), std::pair("torch", "load"),
          std::pair("numpy", "load"), std::pair("operator", "attrgetter"),
          std::pair("torch.storage", "_load_from_bytes"), std::pair("functools", "partial")}) {
        const std::string call = std::string("it calls ") + module + "." + name;
        CAPTURE(call);
        CHECK_THAT(pickle_complaint(folder, pickle::dict({{"w", pickle::call(module, name, {command})}})),
                   Contains(call));
        // As protocol 4 names it.
        CHECK_THAT(pickle_complaint(
                       folder, pickle::text(module) + pickle::text(name) + "\x93" + pickle::tuple({command}) + "R"),
                   Contains(call));
        // As a class.
        CHECK_THAT(pickle_complaint(folder, pickle::global(module, name) + pickle::tuple({command}) + "\x81"),
                   Contains(call));
        // Behind a function that is allowed.
        CHECK_THAT(
            pickle_complaint(folder, pickle::call("torch._tensor", "_rebuild_from_type_v2",
                                                  {pickle::global(module, name), pickle::global("torch", "Tensor"),
                                                   pickle::tuple({command}), "N"})),
            Contains(call));
    }
    CHECK_FALSE(std::filesystem::exists(made));
}

TEST_CASE("opcodes that state_dicts do not need are rejected", "[pickle]") {
    const TemporaryFolder folder;
    for (const char opcode : {'i', 'o', 'P', '\x82', '\x97', '\x98', 'I', 'S', 'V', 'g', 'p', 'd', 'l', '2'}) {
        CHECK_THAT(pickle_complaint(folder, std::string(1, opcode) + "\n\n"), Contains("opcode 0x"));
    }
    CHECK_THAT(pickle_complaint(folder, "\x80\x06}"), Contains("protocol 6"));
    CHECK_THAT(pickle_complaint(folder, pickle::global("a", "B") + ")" + pickle::dict({{"x", "N"}}) + "\x92"),
               Contains("keywords"));
    CHECK_THAT(pickle_complaint(folder, pickle::tuple({pickle::text("module")}) + "Q"), Contains("whole module"));
    CHECK_THAT(pickle_complaint(folder, pickle::storage("QInt8Storage", "0", 1)), Contains("torch.QInt8Storage"));
}

TEST_CASE("calls with unexpected arguments are rejected", "[pickle]") {
    const TemporaryFolder folder;
    using pickle::call;
    const std::string tensor = pickle::tensor(kStorage, 0, {1}, {1});
    const std::string one = pickle::integers({1});
    for (const std::string& bad :
         {call("torch._utils", "_rebuild_tensor_v2", {}),
          call("torch._utils", "_rebuild_tensor_v2", {tensor, "K\1", one, one}),
          call("torch._utils", "_rebuild_tensor_v2", {kStorage, "N", one, one}),
          call("torch._utils", "_rebuild_tensor_v2", {kStorage, "K\1", "]", one}),
          call("torch._utils", "_rebuild_parameter", {kStorage}), call("collections", "OrderedDict", {"N"}),
          call("collections", "OrderedDict", {"](" + pickle::tuple({"N"}) + "e"}), call("torch", "Size", {"N"}),
          call("builtins", "set", {"N"}), pickle::tuple({pickle::text("storage"), "N"}) + "Q"}) {
        CHECK_THAT(pickle_complaint(folder, bad), Contains("with unexpected arguments"));
    }
    CHECK_THAT(
        pickle_complaint(folder, call("torch._utils", "_rebuild_tensor_v2",
                                      {kStorage, "K\1", one, one, "\x89", "N", pickle::dict({{"neg", "\x88"}})})),
        Contains("_rebuild_tensor_v2 with metadata"));
    CHECK_THAT(pickle_complaint(
                   folder, call("torch._tensor", "_rebuild_from_type_v2",
                                {pickle::global("torch._utils", "_rebuild_tensor_v2"),
                                 pickle::global("other", "Tensor"), pickle::tuple({kStorage, "K\1", one, one}), "N"})),
               Contains("a tensor of the class other.Tensor"));
    CHECK_THAT(
        pickle_complaint(folder, call("torch._utils", "_rebuild_tensor_v3",
                                      {kStorage, "K\1", one, one, "\x89", "N", pickle::global("torch", "int4")})),
        Contains("the dtype torch.int4"));
    CHECK_THAT(pickle_complaint(folder, call("_codecs", "encode", {pickle::text("a"), pickle::text("rot13")})),
               Contains("it calls _codecs.encode"));
    CHECK_THAT(pickle_complaint(folder, call("numpy.core.multiarray", "scalar",
                                             {call("numpy", "dtype", {pickle::text("c16")}), "C\1x"})),
               Contains("numpy's dtype 'c16'"));
    CHECK_THAT(pickle_complaint(folder, call("numpy", "dtype", {pickle::text("f8")}) +
                                            pickle::tuple({"K\3", pickle::text(">")}) + "b"),
               Contains("big-endian numbers"));
    CHECK_THAT(pickle_complaint(folder, pickle::global("some", "Class") + ")\x81K\1b"),
               Contains("not a dict of attributes"));
    CHECK_THAT(pickle_complaint(folder, pickle::global(std::string(1001, 'm'), "n")), Contains("no valid name"));
    CHECK_THAT(pickle_complaint(folder, pickle::global("\xff", "n")), Contains("no valid name"));
    CHECK_THAT(pickle_complaint(folder, "N)\x81"), Contains("an instance needs a class"));
    const std::string view =
        pickle::tuple({pickle::text("storage"), pickle::global("torch", "FloatStorage"), pickle::text("0"),
                       pickle::text("cpu"), "K\1", pickle::tuple({pickle::text("1"), "K\1", "K\1"})});
    CHECK_THAT(pickle_complaint(folder, view + "Q"), Contains("views of storages"));
}

TEST_CASE("damaged pickles are rejected", "[pickle]") {
    const TemporaryFolder folder;
    for (const char* root :
         {"",   "t",   "e",   "u",   "a",  "s",   "R",      "\x81", "b",     "0",    "1",      "\x85", "q\1",
          "NR", "NNR", ")(b", "NNb", "Na", "NNs", "}N\x90", "}(Nu", "(}t(s", "\x93", "NN\x93", "h\1",  "Q"}) {
        CAPTURE(root);
        CHECK_THAT(pickle_complaint(folder, root),
                   Contains("damaged") || Contains("persistent id") || Contains("whole module"));
    }
    CHECK_THAT(pickle_complaint(folder, "X\4"), Contains("truncated"));
    CHECK_THAT(pickle_complaint(folder, std::string("\x8d\xff\xff\xff\xff\xff\xff\xff\xff", 9)), Contains("truncated"));
    CHECK_THAT(pickle_complaint(folder, pickle::text("\xff")), Contains("not UTF-8"));
    CHECK_THAT(pickle_complaint(folder, "]"), Contains("no dict of tensors"));
    CHECK_THAT(pickle_complaint(folder, "j\xff\xff\xff\xff"), Contains("uses the value 4294967295"));
}

TEST_CASE("containers that unfold without end are rejected", "[pickle]") {
    const TemporaryFolder folder;
    const std::string deep = std::string(100'000, ']') + std::string(99'999, 'a');
    CHECK_THAT(pickle_complaint(folder, pickle::dict({{"a", deep}})), Contains("100 deep"));
    std::string laughs = "]q";
    laughs += '\0';
    for (char level = 0; level < 40; ++level) {  // a list of twice the one before
        laughs += std::string("0](h") + level + "h" + level + "eq" + static_cast<char>(level + 1);
    }
    CHECK_THAT(pickle_complaint(folder, pickle::dict({{"a", laughs}})), Contains("unfolds to more than 256 MiB"));
    CHECK_THAT(pickle_complaint(folder, "}q\1" + pickle::text(std::string(5000, 'k')) + "}s"),
               Contains("key of more than 4096"));
    std::string many = "Nq\1";
    for (int value = 0; value < 4'000'000; ++value) {
        many += "h\1";
    }
    CHECK_THAT(pickle_complaint(folder, many), Contains("4,000,000"));
}

TEST_CASE("tensors that do not lie in their storage are rejected", "[pickle]") {
    const TemporaryFolder folder;
    constexpr std::int64_t kHuge = std::int64_t{1} << 62;
    using pickle::tensor;
    CHECK(pickle_file_complaint(
              folder, pickle::torch_zip(pickle::dict({{"w", tensor(kStorage, 0, {3, 4}, {4, 1})}}), {})) != "");
    for (const std::string& bad : {tensor(kStorage, 1, {3, 4}, {4, 1}), tensor(kStorage, 0, {3, 5}, {5, 1}),
                                   tensor(kStorage, 0, {2, 2}, {11, 1}), tensor(kStorage, 0, {kHuge, kHuge}, {1, 1}),
                                   tensor(kStorage, 0, {2}, {kHuge}), tensor(kStorage, 0, {kHuge, 16}, {0, 0})}) {
        CHECK_THAT(pickle_tensor_complaint(folder, bad), Contains("'w'") && Contains("does not fit in its"));
    }
    CHECK_THAT(pickle_tensor_complaint(folder, tensor(kStorage, 13, {1}, {1})), Contains("begins after the end"));
    CHECK_THAT(pickle_tensor_complaint(folder, tensor(kStorage, kHuge, {1}, {1})), Contains("begins after the end"));
    CHECK_THAT(pickle_tensor_complaint(folder, tensor(kStorage, -1, {1}, {1})), Contains("begins before"));
    CHECK_THAT(pickle_tensor_complaint(folder, tensor(kStorage, 0, {-1}, {1})), Contains("negative"));
    CHECK_THAT(pickle_tensor_complaint(folder, tensor(kStorage, 0, {2}, {-1})), Contains("negative"));
    CHECK_THAT(pickle_tensor_complaint(folder, tensor(kStorage, 0, {2}, {1, 1})),
               Contains("1 dimensions but 2 strides"));
    CHECK_THAT(pickle_tensor_complaint(folder, tensor(pickle::storage("FloatStorage", "0", 13), 0, {1}, {1})),
               Contains("truncated"));
    CHECK_THAT(pickle_tensor_complaint(folder, tensor(pickle::storage("FloatStorage", "0", kHuge), 0, {1}, {1})),
               Contains("not valid"));
    CHECK_THAT(pickle_tensor_complaint(folder, tensor(pickle::storage("FloatStorage", "7", 1), 0, {1}, {1})),
               Contains("missing") && Contains("data/7"));
    CHECK_THAT(pickle_tensor_complaint(folder, tensor(pickle::storage("FloatStorage", "../0", 1), 0, {1}, {1})),
               Contains("missing"));
    CHECK_THAT(pickle_tensor_complaint(
                   folder, tensor(kStorage, 0, std::vector<std::int64_t>(65, 1), std::vector<std::int64_t>(65, 1))),
               Contains("64 dimensions"));
    const std::string path = folder.write(
        "deep.bin", pickle::torch_zip(pickle::dict({{"w", tensor(kStorage, 0, {1, 1, 1, 1, 1}, {1, 1, 1, 1, 1})}}),
                                      {{"0", std::string(48, 'x')}}));
    CHECK_THAT(error_of([&] { open_pickle_archive(path).at("w"); }), Contains("has 5 dimensions"));
    const std::string same = pickle::dict(
        {{"a.b", tensor(kStorage, 0, {1}, {1})}, {"a", pickle::dict({{"b", tensor(kStorage, 0, {1}, {1})}})}});
    CHECK_THAT(pickle_file_complaint(folder, pickle::torch_zip(same, {{"0", std::string(48, 'x')}})),
               Contains("'a.b' twice"));
}

TEST_CASE("legacy files whose storages do not match are rejected", "[pickle]") {
    const TemporaryFolder folder;
    const std::string root = pickle::dict({{"w", pickle::tensor(kStorage, 0, {12}, {1})}});
    const std::string good = pickle::torch_legacy(root, {{"0", std::string(48, 'x')}});
    CHECK(error_of([&] { open_pickle_archive(folder.write("good.bin", good)); }) == "");
    for (std::size_t size = 0; size < good.size(); ++size) {
        CAPTURE(size);
        CHECK(pickle_file_complaint(folder, good.substr(0, size)) != "");
    }
    CHECK_THAT(pickle_file_complaint(folder, pickle::torch_legacy(root, {{"0", std::string(44, 'x')}})),
               Contains("has 11 elements, expected 12"));
    CHECK_THAT(pickle_file_complaint(folder, pickle::torch_legacy(root, {})),
               Contains("data of tensor 'w' is missing"));
    CHECK_THAT(pickle_file_complaint(folder, pickle::torch_legacy(root, {{"1", ""}})),
               Contains("'1' belongs to no tensor"));
    std::string other = good;
    other[other.find(pickle::integer(1001)) + 2] ^= 1;
    CHECK_THAT(pickle_file_complaint(folder, other), Contains("its legacy format is 1000, expected 1001"));
    const std::string two = pickle::dict({{"w", pickle::tensor(kStorage, 0, {1}, {1})},
                                          {"v", pickle::tensor(pickle::storage("LongStorage", "0", 6), 0, {1}, {1})}});
    CHECK_THAT(pickle_file_complaint(folder, pickle::torch_legacy(two, {{"0", std::string(48, 'x')}})),
               Contains("two sizes"));
}

TEST_CASE("files of other programs are not taken for PyTorch's", "[pickle]") {
    const TemporaryFolder folder;
    CHECK_THAT(pickle_file_complaint(folder, ""), Contains("does not begin as torch.save"));
    CHECK_THAT(pickle_file_complaint(folder, "version https://git-lfs.github.com/spec/v1"),
               Contains("does not begin as torch.save"));
    CHECK_THAT(pickle_file_complaint(folder, zip_of({{"weights.npy", "x"}})), Contains("without data.pkl"));
    CHECK_THAT(pickle_file_complaint(folder, zip_of({{"m/data.pkl", "x"}, {"m/code/__torch__/model.py", "x"}})),
               Contains("TorchScript"));
}
