#include <catch2/catch.hpp>
#include <string>

#include "io/tensor_archive.h"
#include "support/check.h"
#include "tests/io/pickle_writer.h"
#include "tests/io/temporary_folder.h"
#include "tests/io/tensor_values.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

using Floats = std::vector<float>;
using Integers = std::vector<std::int32_t>;
using Halves = std::vector<std::uint16_t>;

const std::string kFolder = HEADSCOPE_SOURCE_DIR "/tests/io/foreign/";

// What make.py writes as `plain`.
void check_plain(const TensorArchive& archive, const std::string& prefix) {
    const Floats base{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    CHECK(values_of<float>(archive, prefix + "f32") == base);
    CHECK(archive.at(prefix + "f32").shape == Shape{3, 4});
    CHECK(values_of<float>(archive, prefix + "offset") == Floats{5, 6, 9, 10});
    CHECK(values_of<float>(archive, prefix + "transposed") == Floats{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
    CHECK(archive.at(prefix + "transposed").shape == Shape{4, 3});
    CHECK(values_of<float>(archive, prefix + "parameter") == Floats{0, 1, 2, 3});
    CHECK(values_of<float>(archive, prefix + "scalar") == Floats{2.5F});
    CHECK(archive.at(prefix + "scalar").shape == Shape{});
    CHECK(archive.at(prefix + "empty").shape == Shape{0, 3});
    CHECK(values_of<float>(archive, prefix + "f64") == Floats{0.5F, -3.0F});
    CHECK(archive.at(prefix + "f16").dtype == DType::F16);
    CHECK(values_of<std::uint16_t>(archive, prefix + "f16") == Halves{0x3e00, 0xc000});
    CHECK(archive.at(prefix + "bf16").dtype == DType::BF16);
    CHECK(values_of<std::uint16_t>(archive, prefix + "bf16") == Halves{0x3fc0, 0xc000});
    CHECK(archive.entry(prefix + "i64").dtype == "I64");
    CHECK(values_of<std::int32_t>(archive, prefix + "i64") == Integers{-1, 7});
    CHECK(values_of<std::int32_t>(archive, prefix + "i16") == Integers{-300});
    CHECK(values_of<std::int8_t>(archive, prefix + "i8") == std::vector<std::int8_t>{-5});
    CHECK(values_of<std::int32_t>(archive, prefix + "u8") == Integers{200});
    CHECK(values_of<std::int32_t>(archive, prefix + "bool") == Integers{1, 0});
    CHECK_THAT(error_of([&] { archive.at(prefix + "expanded"); }), Contains("repeats its 4 bytes"));
}

// What make.py writes as `objects`.
void check_objects(const TensorArchive& archive) {
    const nlohmann::json& objects = archive.objects();
    CHECK(objects.at("args") ==
          nlohmann::json::parse(R"({"layers":2,"rate":0.5,"name":"größer","nothing":null,"nested":{"yes":true}})"));
    CHECK(objects.at("ordered")["a"] == nlohmann::json::array({1, -2, 70000, std::int64_t{1} << 40}));
    CHECK(objects.at("counts") == nlohmann::json{{"x", 3}});
    CHECK(objects.at("size") == nlohmann::json::array({3, 4}));
    CHECK(objects.at("dtype") == "torch.float16");
    CHECK(objects.at("device") == "cpu");
    CHECK(objects.at("set") == nlohmann::json::array({5}));
    CHECK(objects.at("list")[0] == nullptr);
    CHECK(objects.at("list")[1] == "text");
    CHECK(objects.at("list")[2][0] == nlohmann::json::binary({0, 255}));
    CHECK(objects.at("metrics") == nlohmann::json::array({0.25, -7, 1.5, true}));
    CHECK(values_of<float>(archive, "list.0") == Floats{9});
    CHECK(values_of<float>(archive, "optimizer.0.exp_avg") == Floats{8, 9, 10, 11});
}

}  // namespace

TEST_CASE("PyTorch's files are read", "[pickle]") {
    const TensorArchive zip = open_pickle_archive(kFolder + "zip.bin");
    CHECK(zip.names().front() == "f32");
    CHECK(zip.names().size() == 15);
    CHECK(zip.objects() == nlohmann::json::object());
    CHECK(zip.place_of("f32") == kFolder + "zip.bin");
    check_plain(zip, "");

    const TensorArchive legacy = open_pickle_archive(kFolder + "legacy.bin");
    check_plain(legacy, "");
    check_objects(legacy);

    const TensorArchive checkpoint = open_pickle_archive(kFolder + "checkpoint.pt");
    check_plain(checkpoint, "model.");
    check_objects(checkpoint);
    CHECK(values_of<float>(checkpoint, "attributed") == Floats{1, 1});
    CHECK(values_of<std::int32_t>(checkpoint, "u16") == Integers{65535});
    CHECK_THAT(error_of([&] { checkpoint.at("f8"); }), Contains("'f8'") && Contains("F8_E4M3"));
    CHECK_THAT(error_of([&] { checkpoint.at("model.f23"); }),
               Contains("has no tensor 'model.f23'") && Contains("'model.f32'"));
}

TEST_CASE("a tensor outlives its archive", "[pickle]") {
    const ArchiveTensor tensor = open_pickle_archive(kFolder + "zip.bin").at("f32");
    float last = 0;
    std::memcpy(&last, tensor.data.data() + tensor.data.size() - sizeof(last), sizeof(last));
    CHECK(last == 11.0F);
}

TEST_CASE("data of big-endian machines is swapped", "[pickle]") {
    const TemporaryFolder folder;
    const std::string root =
        pickle::dict({{"a", pickle::tensor(pickle::storage("FloatStorage", "0", 2), 0, {2}, {1})}});
    const std::string path =
        folder.write("big.bin", pickle::torch_zip(root, {{"0", std::string("\x3f\x80\0\0\xc0\0\0\0", 8)}}, "big"));
    CHECK(values_of<float>(open_pickle_archive(path), "a") == Floats{1, -2});

    const std::string odd = folder.write("odd.bin", pickle::torch_zip(root, {{"0", std::string(8, 'x')}}, "middle"));
    CHECK_THAT(error_of([&] { open_pickle_archive(odd); }), Contains(odd) && Contains("byteorder"));
    const std::string legacy =
        folder.write("old.bin", pickle::torch_legacy(root, {{"0", std::string(8, 'x')}}, 4, "\x89"));
    CHECK_THAT(error_of([&] { open_pickle_archive(legacy); }), Contains(legacy) && Contains("big-endian"));
}

TEST_CASE("deflated storages are unpacked", "[pickle]") {
    const TemporaryFolder folder;
    const std::string storage = pickle::storage("FloatStorage", "0", 100);
    const std::string root = pickle::dict(
        {{"all", pickle::tensor(storage, 0, {10, 10}, {10, 1})}, {"last", pickle::tensor(storage, 99, {1}, {1})}});
    const std::string path = folder.write("packed.bin", zip_of({{"m/data.pkl", pickle::whole(root), true},
                                                                {"m/data/0", bytes_of(Floats(100, 0.5F)), true}}));
    const TensorArchive archive = open_pickle_archive(path);
    CHECK(values_of<float>(archive, "all") == Floats(100, 0.5F));
    CHECK(values_of<float>(archive, "last") == Floats{0.5F});
}

TEST_CASE("a tensor without elements may begin after its storage", "[pickle]") {
    const TemporaryFolder folder;
    const std::string root =
        pickle::dict({{"none", pickle::tensor(pickle::storage("FloatStorage", "0", 1), 7, {2, 0}, {3, 1})}});
    const std::string zip = folder.write("m.bin", pickle::torch_zip(root, {{"0", "data"}}));
    CHECK(open_pickle_archive(zip).at("none").shape == Shape{2, 0});
    const std::string legacy = folder.write("old.bin", pickle::torch_legacy(root, {{"0", "data"}}));
    CHECK(open_pickle_archive(legacy).at("none").data.empty());
}

TEST_CASE("integers that do not fit in 32 bits are an error when read", "[pickle]") {
    const TemporaryFolder folder;
    const std::string root =
        pickle::dict({{"ids", pickle::tensor(pickle::storage("LongStorage", "0", 2), 0, {2}, {1})}});
    const std::string path =
        folder.write("m.bin", pickle::torch_zip(root, {{"0", bytes_of(std::vector<std::int64_t>{1, 1LL << 40})}}));
    CHECK_THAT(error_of([&] { open_pickle_archive(path).at("ids"); }),
               Contains(path) && Contains("'ids'") && Contains("1099511627776 at element 1"));
}

TEST_CASE("objects of unknown classes keep their attributes", "[pickle]") {
    const TemporaryFolder folder;
    const std::string object =
        pickle::global("fairseq.meters", "AverageMeter") + ")\x81" + pickle::dict({{"sum", pickle::integer(3)}}) + "b";
    const std::string slots =
        pickle::global("some", "Slots") + ")\x81" + pickle::tuple({"N", pickle::dict({{"x", "N"}})}) + "b";
    const std::string old = pickle::call("copy_reg", "_reconstructor",
                                         {pickle::global("some", "Old"), pickle::global("__builtin__", "object"), "N"});
    const std::string root =
        pickle::dict({{"meter", object}, {"slots", slots}, {"old", old}, {"type", pickle::global("typing", "Any")}});
    const TensorArchive archive = open_pickle_archive(folder.write("m.bin", pickle::torch_zip(root)));
    CHECK(archive.objects() ==
          nlohmann::json::parse(R"({"meter":{"sum":3},"slots":{"x":null},"old":{},"type":"typing.Any"})"));
}

TEST_CASE("a container inside itself is null there", "[pickle]") {
    const TemporaryFolder folder;
    const std::string root = pickle::dict({{"config", "}q\1" + pickle::text("parent") + "h\1s"}});
    const TensorArchive archive = open_pickle_archive(folder.write("m.bin", pickle::torch_zip(root)));
    CHECK(archive.objects() == nlohmann::json::parse(R"({"config":{"parent":null}})"));
}
