#include "train/checkpoint.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "registry/registry.h"
#include "tests/house/files.h"
#include "tests/io/file_size_limit.h"
#include "tests/io/temporary_folder.h"
#include "train/averaging.h"

using namespace headscope;

namespace {

CheckpointTensors tensors_of(Backend& backend, float start) {
    const auto make = [&](float first) {
        return make_from_host<float>(backend, {4}, DType::F32, {first, first + 1, first + 2, first + 3});
    };
    return {make(start), make(start + 10), make(start + 20), make(start + 30)};
}

}  // namespace

TEST_CASE("a checkpoint is read as it was written", "[checkpoint]") {
    const TemporaryFolder folder;
    const auto backend = open_device("cpu");
    const std::string file = folder.file("a.safetensors");
    write_checkpoint(*backend, file, tensors_of(*backend, 0.1F), {{"step", 3}});
    CHECK(Checkpoint::open(file).state()["step"] == 3);
    const CheckpointTensors back = tensors_of(*backend, 7.0F);
    Checkpoint::open(file).read(*backend, back);
    const CheckpointTensors expected = tensors_of(*backend, 0.1F);
    CHECK(to_host<float>(*backend, back.parameters) == to_host<float>(*backend, expected.parameters));
    CHECK(to_host<float>(*backend, back.first_moment) == to_host<float>(*backend, expected.first_moment));
    CHECK(to_host<float>(*backend, back.second_moment) == to_host<float>(*backend, expected.second_moment));
    CHECK(to_host<float>(*backend, back.mean) == to_host<float>(*backend, expected.mean));

    const CheckpointTensors other{make_from_host<float>(*backend, {3}, DType::F32, {1, 2, 3})};
    CHECK_THAT(error_of([&] { Checkpoint::open(file).read(*backend, other); }),
               Catch::Contains("a.safetensors") && Catch::Contains("[4]") && Catch::Contains("[3]"));
}

TEST_CASE("a truncated checkpoint is skipped with the reason", "[checkpoint]") {
    const TemporaryFolder folder;
    const auto backend = open_device("cpu");
    const CheckpointFolder checkpoints(folder.file("checkpoints"));
    for (const std::int64_t step : {9, 10, 11}) {
        write_checkpoint(*backend, checkpoints.file_of(step), tensors_of(*backend, 1.0F), {{"step", step}});
    }
    std::filesystem::resize_file(checkpoints.file_of(11), std::filesystem::file_size(checkpoints.file_of(11)) - 1);
    folder.write("checkpoints/step-00000012.safetensors", "");
    folder.write("checkpoints/step-00000013.safetensors.tmp", "half of one");
    std::string skipped;
    const auto hear = [&](const std::string& why) { skipped += why; };
    const std::vector<Checkpoint> newest = checkpoints.newest_whole(1, 99, hear);
    REQUIRE(newest.size() == 1);
    CHECK(newest.front().state()["step"] == 10);
    CHECK_THAT(skipped, Catch::Contains("step-00000011") && Catch::Contains("step-00000012"));
    CHECK(checkpoints.steps() == std::vector<std::int64_t>{9, 10, 11, 12});
    const std::vector<Checkpoint> two = checkpoints.newest_whole(3, 99, hear);
    REQUIRE(two.size() == 2);
    CHECK(two.front().state()["step"] == 9);
    CHECK(two.back().state()["step"] == 10);
    CHECK(checkpoints.newest_whole(1, 9, hear).front().state()["step"] == 9);
    checkpoints.remove_leftovers();
    CHECK(!std::filesystem::exists(folder.file("checkpoints/step-00000013.safetensors.tmp")));
    CHECK(checkpoints.steps() == std::vector<std::int64_t>{9, 10, 11, 12});
    checkpoints.keep({10}, 10);  // damaged later ones do not count
    CHECK(checkpoints.steps() == std::vector<std::int64_t>{10, 11, 12});
    checkpoints.keep({11, 12, 13}, 12);
    CHECK(checkpoints.steps() == std::vector<std::int64_t>{11, 12});
    checkpoints.remove_after(11);
    CHECK(checkpoints.steps() == std::vector<std::int64_t>{11});
}

TEST_CASE("one changed bit anywhere in a checkpoint is detected", "[checkpoint]") {
    const TemporaryFolder folder;
    const auto backend = open_device("cpu");
    const std::string file = folder.file("a.safetensors");
    write_checkpoint(*backend, file, tensors_of(*backend, 0.5F), {{"step", 3}});
    const std::string whole = read_all(file);
    const CheckpointTensors back = tensors_of(*backend, 7.0F);
    const auto expected = to_host<float>(*backend, tensors_of(*backend, 0.5F).parameters);
    for (std::size_t at = 0; at < whole.size(); ++at) {
        std::string changed = whole;
        changed[at] = static_cast<char>(changed[at] ^ 0x10);
        folder.write("b.safetensors", changed);
        const std::string problem =
            error_of([&] { Checkpoint::open(folder.file("b.safetensors")).read(*backend, back); });
        INFO("byte " << at << " of " << whole.size());
        // Only the spaces that pad the header may change.
        CHECK((problem.find("b.safetensors") != std::string::npos || whole[at] == ' '));
    }
    const std::size_t weight = whole.size() - 1;
    std::string changed = whole;
    changed[weight] = static_cast<char>(changed[weight] ^ 1);
    folder.write("b.safetensors", changed);
    CHECK_THAT(error_of([&] { Checkpoint::open(folder.file("b.safetensors")); }),
               Catch::Contains("damaged") && Catch::Contains("checksum"));
}

TEST_CASE("a file with other tensors is not a checkpoint", "[checkpoint]") {
    const auto problem = error_of([] { Checkpoint::open(checkout_file("LICENSE")); });
    CHECK_THAT(problem, Catch::Contains("LICENSE"));
}

TEST_CASE("a full disk is an error and leaves the old file", "[checkpoint]") {
    const TemporaryFolder folder;
    const auto backend = open_device("cpu");
    const std::string file = folder.file("a.safetensors");
    write_checkpoint(*backend, file, tensors_of(*backend, 1.0F), {{"step", 1}});
    const std::string before = read_all(file);

    std::string problem;
    {
        const FileSizeLimit full(64);
        problem = error_of([&] { write_checkpoint(*backend, file, tensors_of(*backend, 2.0F), {{"step", 2}}); });
    }
    CHECK_THAT(problem, Catch::Contains("a.safetensors"));
    CHECK(read_all(file) == before);
}

TEST_CASE("averaging is the mean of the files' parameters", "[averaging]") {
    const TemporaryFolder folder;
    const auto backend = open_device("cpu");
    std::vector<Checkpoint> files;
    for (const float start : {1.0F, 2.0F, 6.0F}) {
        const std::string file = folder.file(std::to_string(files.size()) + ".safetensors");
        write_checkpoint(*backend, file, tensors_of(*backend, start), {{"step", 1}});
        files.push_back(Checkpoint::open(file));
    }
    const Tensor into = make_from_host<float>(*backend, {4}, DType::F32, {9, 9, 9, 9});
    average_checkpoints(*backend, files, into);
    CHECK(to_host<float>(*backend, into) == std::vector<float>{3, 4, 5, 6});
    const Tensor wrong = make_from_host<float>(*backend, {3}, DType::F32, {9, 9, 9});
    CHECK_THAT(error_of([&] { average_checkpoints(*backend, files, wrong); }), Catch::Contains("0.safetensors"));
}
