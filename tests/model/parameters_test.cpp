// Masters and the working copy in 16 bits. The CPU stores 16 bits without computing in them, which is enough here.
#include "model/parameters.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "backend/convert.h"
#include "backend/ops/elementwise.h"
#include "model/model_directory.h"
#include "model/scope.h"
#include "small_model.h"
#include "tests/io/temporary_folder.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

constexpr const char* kWeight = "encoder.layers.0.feed_forward.inner.weight";
constexpr const char* kTable = "embedding.weight";
constexpr const char* kGain = "encoder.layers.0.feed_forward.norm.gain";
constexpr const char* kPositions = "encoder.positions.weight";

ModelConfig learned_config() {
    ModelConfig config = small_config();
    config.positions.kind = Positions::Learned;
    config.attention.bias = true;
    return config;
}

std::vector<float> rounded(std::vector<float> values, DType dtype) {
    for (float& value : values) {
        value = rounded_to(dtype, value);
    }
    return values;
}

}  // namespace

TEST_CASE("multiplied weights are read in 16 bits, others in F32, and gradients are F32", "[parameters]") {
    const auto backend = open_device("cpu");
    for (const DType storage : {DType::F16, DType::BF16}) {
        Parameters parameters(*backend, learned_config(), true, storage);
        parameters.initialise(1);
        for (const ParameterSpec& spec : parameters.table()) {
            INFO(spec.name << " in " << name_of(storage));
            const Var var = parameters.at(spec.name);
            const bool halved = spec.name.ends_with(".weight") && spec.name.find("positions") == std::string::npos;
            CHECK(var.value().dtype == (halved ? storage : DType::F32));
            CHECK(var.gradient_target(*backend).tensor.dtype == DType::F32);
            const Tensor master = parameters.stored(spec.name);
            CHECK(master.dtype == DType::F32);
            CHECK(to_host<float>(*backend, var.value()) ==
                  rounded(to_host<float>(*backend, master), halved ? storage : DType::F32));
        }
        CHECK(parameters.flat_working().dtype == storage);
        CHECK(parameters.flat_working().elements() == parameters.total());
        parameters.forget_gradients();
        const Var packed = parameters.packed("encoder.layers.0.self_attention.q.weight", 3);
        CHECK(packed.value().dtype == storage);
        CHECK(packed.gradient_target(*backend).tensor.dtype == DType::F32);
        CHECK(parameters.at("encoder.layers.0.self_attention.k.weight").has_gradient());  // one gradient, two views
        CHECK(parameters.packed("encoder.layers.0.self_attention.q.bias", 3).value().dtype == DType::F32);
    }
}

TEST_CASE("refresh_working copies the masters to the working copy", "[parameters]") {
    const auto backend = open_device("cpu");
    Parameters parameters(*backend, small_config(), true, DType::BF16);
    backend->run(Fill{.out = parameters.flat_values(), .value = 1.0F + 0x1p-9F});
    const auto first = [&] { return to_host<float>(*backend, parameters.at(kWeight).value())[0]; };
    CHECK(first() == 0.0F);
    parameters.refresh_working();
    CHECK(first() == 1.0F);
    CHECK(to_host<float>(*backend, parameters.at(kGain).value())[0] == 1.0F + 0x1p-9F);
}

TEST_CASE("what is read in F32 has a rounded copy where activations are in 16 bits", "[parameters]") {
    constexpr const char* kBias = "encoder.layers.0.feed_forward.inner.bias";
    const auto backend = open_device("cpu");
    Parameters parameters(*backend, learned_config(), true, DType::BF16);
    parameters.initialise(1);
    const Tensor master = parameters.stored(kBias);
    backend->run(Fill{.out = master, .value = 1.0F + 0x1p-9F});
    parameters.refresh_working();
    const Tensor copy = parameters.at(kBias).rounded();
    CHECK(copy.dtype == DType::BF16);
    CHECK(to_host<float>(*backend, copy) == std::vector<float>(static_cast<std::size_t>(copy.elements()), 1.0F));
    CHECK(copy.buffer == parameters.flat_working().buffer);
    const Var packed = parameters.packed("encoder.layers.0.self_attention.q.bias", 3);
    CHECK(packed.rounded().shape == packed.shape());
    CHECK(packed.narrow(0, 2, 5).rounded().offset == packed.rounded().offset + 2);
    CHECK_FALSE(parameters.at(kWeight).rounded().defined());
    // This backend's activations are F32 beside weights in F16.
    CHECK_FALSE(Parameters(*backend, learned_config(), false, DType::F16).at(kBias).rounded().defined());
    CHECK_FALSE(Parameters(*backend, learned_config(), false).at(kBias).rounded().defined());
}

TEST_CASE("without gradients no weight is stored twice, and packed views are unchanged", "[parameters]") {
    const auto backend = open_device("cpu");
    const auto bytes = [&](bool gradients, DType storage) {
        const std::size_t before = backend->memory().live;
        const Parameters parameters(*backend, learned_config(), gradients, storage);
        return backend->memory().live - before;
    };
    const std::size_t full = bytes(false, DType::F32);
    CHECK(bytes(false, DType::F16) < full * 3 / 4);
    CHECK(bytes(true, DType::F16) > full * 2);

    Parameters exact(*backend, learned_config(), false);
    Parameters halved(*backend, learned_config(), false, DType::F16);
    exact.initialise(1);
    halved.initialise(1);
    CHECK_THROWS_AS(halved.flat_values(), CheckFailure);
    CHECK_THROWS_AS(halved.total(), CheckFailure);
    CHECK(halved.at(kPositions).value().dtype == DType::F32);
    for (const auto& [name, count] : {std::pair{"encoder.layers.0.self_attention.q.weight", 3},
                                      std::pair{"decoder.layers.0.cross_attention.k.bias", 2},
                                      std::pair{"decoder.layers.0.cross_attention.k.weight", 2}}) {
        INFO(name);
        const Tensor packed = halved.packed(name, count).value();
        CHECK(packed.offset % 16 == 0);
        CHECK(to_host<float>(*backend, packed) ==
              rounded(to_host<float>(*backend, exact.packed(name, count).value()), packed.dtype));
    }
}

TEST_CASE("files contain the masters and can be read in any storage", "[parameters]") {
    const TemporaryFolder folder;
    const auto backend = open_device("cpu");
    Parameters trained(*backend, small_config(), true, DType::BF16);
    trained.initialise(2);
    const std::string file = folder.file("model.safetensors");
    save_parameters(*backend, file, trained, DType::F32, "");
    const auto values = [&](const Parameters& of, const char* name) {
        return to_host<float>(*backend, of.at(name).value());
    };
    for (const DType saved : {DType::F32, DType::F16, DType::BF16}) {
        Parameters full(*backend, small_config(), false);
        load_parameters(*backend, *own_weights(file), full);
        CHECK(to_host<float>(*backend, full.flat_values()) == to_host<float>(*backend, trained.flat_values()));
        const std::string again = folder.file("again.safetensors");
        save_parameters(*backend, again, full, saved, "");
        for (const DType storage : {DType::F16, DType::BF16}) {
            INFO(name_of(saved) << " to " << name_of(storage));
            for (const bool gradients : {false, true}) {
                Parameters halved(*backend, small_config(), gradients, storage);
                load_parameters(*backend, *own_weights(again), halved);
                for (const char* name : {kWeight, kTable, kGain}) {
                    const DType kept = halved.at(name).value().dtype;
                    CHECK(values(halved, name) == rounded(rounded(values(full, name), saved), kept));
                }
            }
        }
    }
}

TEST_CASE("weights saved in 8 bits are read as they were rounded, in any storage", "[parameters]") {
    const TemporaryFolder folder;
    const auto backend = open_device("cpu");
    Parameters full(*backend, small_config(), false);
    full.initialise(2);
    const std::string file = folder.file("model.safetensors");
    save_parameters(*backend, file, full, DType::I8, "");
    Parameters rounded(*backend, small_config(), false, DType::I8);
    for (const ParameterSpec& spec : full.table()) {
        rounded.store(spec.name, full.values_of(spec.name));
    }
    for (const DType storage : {DType::F32, DType::I8}) {
        Parameters read(*backend, small_config(), false, storage);
        load_parameters(*backend, *own_weights(file), read);
        for (const ParameterSpec& spec : full.table()) {
            INFO(spec.name << " in " << name_of(storage));
            CHECK(read.values_of(spec.name) == rounded.values_of(spec.name));
        }
    }
}

TEST_CASE("a model that is larger than the device's memory is reported before it is read", "[parameters]") {
    const TemporaryFolder folder;
    ModelDirectory model{.path = "large", .config = small_config()};
    model.config.feed_forward.d_ff = model.config.d_model = 1 << 15;
    model.config.encoder_layers = model.config.decoder_layers = 1024;
    const auto backend = open_device("cpu");
    const std::string other = folder.file("model.safetensors");  // to read it would be another error
    save_parameters(*backend, other, Parameters(*backend, small_config(), false), DType::F32, "");
    model.weights = own_weights(other);
    CHECK_THAT(error_of([&] { read_parameters(*backend, model, DType::F16); }),
               Contains("large needs") && Contains("cpu has") && Contains("F16"));
}

TEST_CASE("a weight above the largest F16 is rejected by name, and BF16 accepts it", "[parameters]") {
    const TemporaryFolder folder;
    const auto backend = open_device("cpu");
    Parameters large(*backend, small_config(), false);
    large.initialise(2);
    std::vector<float> weights = to_host<float>(*backend, large.at(kWeight).value());
    weights[5] = 70000.0F;
    from_host(*backend, large.at(kWeight).value(), weights);
    const std::string file = folder.file("model.safetensors");
    save_parameters(*backend, file, large, DType::F32, "");
    Parameters halved(*backend, small_config(), false, DType::F16);
    CHECK_THAT(error_of([&] { load_parameters(*backend, *own_weights(file), halved); }),
               Contains(file) && Contains(kWeight) && Contains("65504") && Contains("bf16"));
    Parameters wide(*backend, small_config(), false, DType::BF16);
    load_parameters(*backend, *own_weights(file), wide);
    CHECK(to_host<float>(*backend, wide.at(kWeight).value())[5] == 70144.0F);
    const auto in_blocks = [&](int bits) {
        WeightStorage blocks;
        blocks.block_bits = bits;
        Parameters held(*backend, small_config(), false, blocks);
        load_parameters(*backend, *own_weights(file), held);
        return held.values_of(kWeight)[5];
    };
    CHECK(in_blocks(8) == Approx(70000.0).epsilon(1e-3));
    CHECK(in_blocks(4) == Approx(70000.0).epsilon(1e-3));
    weights[5] = -70000.0F;
    from_host(*backend, large.at(kWeight).value(), weights);
    save_parameters(*backend, file, large, DType::F32, "");
    CHECK_THAT(error_of([&] { in_blocks(4); }), Contains(file) && Contains(kWeight) && Contains("blocks of 4 bits"));
    weights[5] = 9e6F;
    from_host(*backend, large.at(kWeight).value(), weights);
    save_parameters(*backend, file, large, DType::F32, "");
    CHECK_THAT(error_of([&] { in_blocks(8); }), Contains(kWeight) && Contains("blocks of 8 bits"));
}

TEST_CASE("a weight is declared with the tokens that are multiplied by it", "[parameters]") {
    ModelDescription description;
    const Scope scope = Scope(description, nullptr).in("inner");
    scope.block({.kind = BlockKind::Linear});
    CHECK_THROWS_AS(scope.weight({{"matrix", 2}}, 3), CheckFailure);
    scope.for_each(&MultiplyAdds::source_token).weight({{"matrix", 2}}, 3);
    CHECK(description.multiply_adds.source_token == 6.0);
}

TEST_CASE("packed weights keep their values, for files and for those who borrow them", "[parameters]") {
    const auto backend = open_device("cpu");
    for (const DType storage : {DType::F32, DType::F16, DType::I8}) {
        Parameters plain(*backend, small_config(), false, storage);
        plain.initialise(2);
        Parameters packed(*backend, small_config(), false, storage);
        packed.initialise(2);
        const std::size_t before = backend->memory().live;
        packed.pack();
        CHECK(backend->memory().live == before);
        const auto borrower = open_device("cpu");
        const Parameters borrowed(*borrower, packed);
        CHECK(borrower->memory().live == 0);
        bool any = false;
        for (const ParameterSpec& spec : plain.table()) {
            INFO(spec.name << " in " << name_of(storage));
            CHECK(packed.values_of(spec.name) == plain.values_of(spec.name));
            CHECK(borrowed.values_of(spec.name) == plain.values_of(spec.name));
            any = any || borrowed.at(spec.name).value().layout == WeightLayout::Panels;
        }
        CHECK(any);
        CHECK_THROWS_AS(packed.flat_values(), CheckFailure);
        // What is written later is read.
        packed.store(kWeight, std::vector<float>(plain.values_of(kWeight).size(), 0.5F));
        CHECK(borrowed.values_of(kWeight).back() == 0.5F);
    }
    Parameters trained(*backend, small_config(), true);
    CHECK_THROWS_AS(trained.pack(), CheckFailure);
    CHECK_THROWS_AS(Parameters(*backend, trained), CheckFailure);
}
